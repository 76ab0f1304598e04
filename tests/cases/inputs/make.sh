#!/bin/sh
# Builds the inputs of the command line tests from their sources: CUDA 13.0's ptxas and nvcc.
set -eu
cd "$(dirname "$0")"
for source in *.ptx; do
    arch=$(sed -n 's/^\.target //p' "$source")
    case $source in
    div100.ptx) kind= ;; # an executable
    *) kind=-c ;;
    esac
    # shellcheck disable=SC2086 # one option or none
    ptxas "-arch=$arch" $kind "$source" -o "${source%.ptx}.cubin"
done
for source in host host2; do
    nvcc -rdc=true -gencode arch=compute_90,code=sm_90 -c "$source.cu" -o "$source.o"
    strip -g "$source.o"
done
nvcc -rdc=true -gencode arch=compute_90,code=sm_90 -fatbin host.cu -o host.fatbin
