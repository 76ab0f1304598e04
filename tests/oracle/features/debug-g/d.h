struct Pair {
    int a, b;
};
