"""PTX statements that only the newest chips know: tensor memory, clusters, bulk copies.

They use the registers that generate.py declares in each function; @G@ stands for the number of
CTAs in a group.
"""
MMA = "{ .reg .pred q; .reg .b32 ta, id; .reg .b64 da, db; setp.ne.u32 q, %r1, 0; " \
      "mov.b32 ta, %r3; mov.b32 id, %r1; mov.b64 da, %rd2; mov.b64 db, %rd3; tcgen05.mma"
COPY = "{ .shared .align 128 .b8 bs[256]; .shared .align 8 .b64 bm; "
PEER = "{ .shared .align 8 .b64 bm; .reg .u32 a, b; mov.u32 a, bm; mapa.shared::cluster.u32 b, " \
       "a, 1; "
TENSOR = {"100a", "103a", "110a", "100f", "103f", "110f"}
SUFFIX_A = {"100a", "103a", "110a"}
BLOCK = {"120a", "121a", "120f", "121f"}
ALL = TENSOR | BLOCK

# (architectures, statement)
STATEMENTS = [
    (TENSOR, "{ .shared .align 4 .b8 ts[4]; tcgen05.alloc.cta_group::@G@.sync.aligned"
             ".shared::cta.b32 [ts], 64; ld.shared.u32 %r3, [ts]; st.global.u32 [%rd1], %r3; }"),
    (TENSOR, "{ .shared .align 4 .b8 ts[4]; tcgen05.alloc.cta_group::@G@.sync.aligned"
             ".shared::cta.b32 [ts], %r1; }"),
    (TENSOR, "tcgen05.dealloc.cta_group::@G@.sync.aligned.b32 %r3, 64;"),
    (TENSOR, "tcgen05.dealloc.cta_group::@G@.sync.aligned.b32 %r3, 128; "
             "tcgen05.relinquish_alloc_permit.cta_group::@G@.sync.aligned;"),
    (TENSOR, "tcgen05.relinquish_alloc_permit.cta_group::@G@.sync.aligned;"),
    (TENSOR, "{ .reg .b32 t<4>; tcgen05.ld.sync.aligned.32x32b.x4.b32 {t0,t1,t2,t3}, [%r3]; "
             "tcgen05.wait::ld.sync.aligned; st.global.u32 [%rd1], t2; }"),
    (TENSOR, "tcgen05.st.sync.aligned.16x64b.x1.b32 [%r3], {%r1}; "
             "tcgen05.wait::st.sync.aligned;"),
    (TENSOR, MMA + ".cta_group::@G@.kind::f16 [ta], da, db, id, q; }"),
    (TENSOR, MMA + ".cta_group::@G@.kind::f8f6f4 [ta], [id], db, id, q; }"),
    (TENSOR, MMA + ".sp.cta_group::@G@.kind::tf32 [ta], da, db, [id], id, q; }"),
    ({"100a", "110a"}, MMA + ".cta_group::@G@.kind::i8 [ta], da, db, id, q; }"),
    (TENSOR, MMA + ".cta_group::@G@.kind::mxf4.block_scale.block32 [ta], da, db, id, [ta], [id], "
                   "q; }"),
    (TENSOR, "{ .shared .align 8 .b64 bm; .reg .u32 a; mov.u32 a, bm; tcgen05.commit"
             ".cta_group::@G@.mbarrier::arrive::one.shared::cluster.b64 [a]; }"),
    (TENSOR, "tcgen05.cp.cta_group::@G@.128x256b [%r3], %rd2;"),
    (SUFFIX_A, "tcgen05.shift.cta_group::@G@.down [%r3];"),
    (TENSOR, "tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;"),
    (TENSOR, COPY + "cp.async.bulk.tensor.2d.shared::cluster.global.tile"
             ".mbarrier::complete_tx::bytes.multicast::cluster.cta_group::@G@ [bs], [%rd1, "
             "{%r1,%r3}], [bm], 3; }"),
    (ALL, COPY + "mbarrier.init.shared.b64 [bm], 1; cp.async.bulk.shared::cluster.global"
          ".mbarrier::complete_tx::bytes [bs], [%rd1], 64, [bm]; }"),
    (ALL, COPY + "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [bs], 64; "
          "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; }"),
    (ALL, COPY + "cp.async.bulk.tensor.1d.shared::cluster.global.tile"
          ".mbarrier::complete_tx::bytes [bs], [%rd1, {%r1}], [bm]; }"),
    (ALL, COPY + "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [bs]; "
          "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; }"),
    (ALL, "{ .shared .align 8 .b64 bm; .reg .pred q; mbarrier.arrive.expect_tx.shared.b64 %rd3, "
          "[bm], 128; mbarrier.try_wait.shared.b64 q, [bm], %rd3; selp.u32 %r3, 1, 0, q; "
          "st.global.u32 [%rd1], %r3; }"),
    (ALL, PEER + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [b]; }"),
    (ALL, PEER + "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [b], %r1, "
          "[b]; }"),
    (ALL, PEER + "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
          "[b], %r1, [b]; }"),
    (ALL, "{ .shared .align 16 .b8 cr[16]; .shared .align 8 .b64 bm; "
          "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
          "[cr], [bm]; }"),
    (ALL, "setmaxnreg.inc.sync.aligned.u32 128;"),
    (ALL, "{ .reg .pred q; elect.sync %r3|q, -1; @q st.global.u32 [%rd1], %r3; }"),
    ({"100a", "103a", "100f", "103f"}, "redux.sync.max.f32 %f1, %f1, -1; st.global.f32 [%rd1], %f1;"),
    (ALL, "{ .shared .align 16 .b8 lm[512]; .reg .u32 a; mov.u32 a, lm; "
          "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r3, %r4}, [a]; "
          "st.global.u32 [%rd1], %r4; }"),
    (ALL, "{ .reg .b8 t; .reg .b16 h; cvt.rn.satfinite.e2m1x2.f32 t, %f1, %f1; cvt.u16.u8 h, t; "
          "st.global.b16 [%rd1], h; }"),
    (BLOCK, "{ .reg .b32 a<4>, b<2>, s; .reg .f32 c<4>; mov.b32 a0, %r1; mov.b32 a1, %r1; "
            "mov.b32 a2, %r1; mov.b32 a3, %r1; mov.b32 b0, %r1; mov.b32 b1, %r1; mov.b32 s, %r1; "
            "mov.f32 c0, %f1; mov.f32 c1, %f1; mov.f32 c2, %f1; mov.f32 c3, %f1; "
            "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X"
            ".f32.e4m3.e5m2.f32.ue8m0 {c0,c1,c2,c3}, {a0,a1,a2,a3}, {b0,b1}, {c0,c1,c2,c3}, "
            "s, {0,0}, s, {0,0}; st.global.f32 [%rd1], c0; }"),
    (ALL, "mov.u32 %r3, %reserved_smem_offset_begin; st.global.u32 [%rd1], %r3;"),
    (ALL, "mov.u32 %r3, %reserved_smem_offset_0; st.global.u32 [%rd1], %r3;"),
    (ALL, "mov.u32 %r3, %reserved_smem_offset_cap; st.global.u32 [%rd1], %r3;"),
    (ALL, "mov.u32 %r3, %aggr_smem_size; st.global.u32 [%rd1], %r3;"),
    (ALL, "multimem.ld_reduce.global.add.f32 %f1, [%rd1]; st.global.f32 [%rd1+4], %f1;"),
    (ALL, "griddepcontrol.launch_dependents;"),
    (ALL, "fence.proxy.async; fence.mbarrier_init.release.cluster;"),
    (ALL, "{ .reg .b32 w<8>; ld.global.v8.b32 {w0,w1,w2,w3,w4,w5,w6,w7}, [%rd1]; "
          "st.global.b32 [%rd1], w5; }"),
]


def archs(of):
    return [a for a in of if a in ALL]


def statement(rng, arch, group):
    """A statement for ARCH; GROUP is 1, 2 or None for either."""
    text = rng.choice([s for known, s in STATEMENTS if arch in known])
    return text.replace("@G@", str(group or rng.choice([1, 2])))
