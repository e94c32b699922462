// tests/sim/Tcgen05Kernel.h -- a kernel around some tcgen05 work: fills shared and tensor memory, does it, gives tensor memory back.
// For tests of tcgen05. Registers: %r10 the address of 512 columns, %r11 the instruction descriptor, %rd3 and %rd4 the
// descriptors of matrices, %p1 true, %r50 zero and %r51 all ones.
#pragma once
#include "tests/sim/SimRun.h"
#include <stdexcept>
#include <vector>

namespace tiletwin::sim {

struct Tcgen05Kernel {
  static constexpr uint32_t kImageBytes = 65536, kColumns = 512;
  int ctas = 1;
  std::string work; ///< by thread 0 of CTA 0

  std::byte* image(int cta) { return images.data() + size_t(cta) * kImageBytes; }
  uint32_t& cell(int cta, int lane, int column) { return before_[index(cta, lane, column)]; }
  uint32_t after(int cta, int lane, int column) const { return after_[index(cta, lane, column)]; }

  std::string text() const {
    const std::string group = "cta_group::" + std::to_string(ctas);
    std::string t = ptxHeader("sm_100a");
    t += ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 da, .param .u64 db, .param "
         ".u32 id)\n"
         "{\n.reg .b32 %r<64>;\n.reg .b64 %rd<16>;\n.reg .pred %p<8>;\n.reg .b16 %h<4>;\n"
         ".shared .align 1024 .b8 image[65536];\n.shared .align 8 .b64 bar;\n.shared .align 4 .b32 where;\n"
         "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %cluster_ctarank;\n"
         "ld.param.u64 %rd0, [p0];\nld.param.u64 %rd1, [p1];\nld.param.u64 %rd2, [p2];\nld.param.u64 %rd3, [da];\n"
         "ld.param.u64 %rd4, [db];\nld.param.u32 %r11, [id];\nmov.u32 %r50, 0;\nmov.u32 %r51, -1;\nsetp.eq.u32 %p1, 0, "
         "0;\n"
         "setp.lt.u32 %p2, %r0, 32;\nsetp.eq.u32 %p3, %r0, 0;\nmov.u32 %r2, where;\nmov.u32 %r3, bar;\nmov.u32 %r4, "
         "image;\n"
         "@%p2 tcgen05.alloc." +
         group +
         ".sync.aligned.shared::cta.b32 [%r2], 512;\n"
         "@%p2 tcgen05.relinquish_alloc_permit." +
         group +
         ".sync.aligned;\n"
         "@%p3 mbarrier.init.shared::cta.b64 [%r3], 1;\n"
         // shared memory: 65536 bytes of p0, in each CTA its own
         "mul.wide.u32 %rd5, %r1, 65536;\nadd.u64 %rd5, %rd5, %rd0;\nmad.wide.u32 %rd5, %r0, 4, %rd5;\n"
         "mad.lo.u32 %r5, %r0, 4, %r4;\nmov.u32 %r6, 0;\n"
         "FILL:\nld.global.b32 %r7, [%rd5];\nst.shared.b32 [%r5], %r7;\nadd.u64 %rd5, %rd5, 512;\nadd.u32 %r5, %r5, "
         "512;\n"
         "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p4, %r6, 128;\n@%p4 bra FILL;\n"
         "fence.proxy.async;\nbar.sync 0;\nld.shared.b32 %r10, [%r2];\n"
         // tensor memory: each thread its lane, of p1
         "shr.u32 %r8, %r0, 5;\nshl.b32 %r8, %r8, 21;\nadd.u32 %r8, %r8, %r10;\n"
         "mad.lo.u32 %r9, %r1, 128, %r0;\nmul.wide.u32 %rd6, %r9, 2048;\nadd.u64 %rd7, %rd6, %rd1;\nadd.u64 %rd8, "
         "%rd6, %rd2;\n"
         "mov.u32 %r6, 0;\nmov.u32 %r12, %r8;\n"
         "STORE:\nld.global.b32 %r7, [%rd7];\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r7};\nadd.u64 %rd7, "
         "%rd7, 4;\n"
         "add.u32 %r12, %r12, 1;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p4, %r6, 512;\n@%p4 bra STORE;\n"
         "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbarrier.cluster.arrive.aligned;\n"
         "barrier.cluster.wait.aligned;\ntcgen05.fence::after_thread_sync;\n"
         "setp.eq.u32 %p5, %r1, 0;\nand.pred %p5, %p5, %p3;\n@!%p5 bra WAIT;\n" +
         work +
         (ctas == 1 ? "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];\n"
                    : "mov.u16 %h0, "
                      "3;\ntcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
                      "[%r3], %h0;\n") +
         "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p6, [%r3], 0;\n@!%p6 bra WAIT;\nbar.warp.sync -1;\n"
         "tcgen05.fence::after_thread_sync;\nmov.u32 %r6, 0;\n"
         "LOAD:\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r7}, [%r8];\ntcgen05.wait::ld.sync.aligned;\nst.global.b32 "
         "[%rd8], %r7;\n"
         "add.u64 %rd8, %rd8, 4;\nadd.u32 %r8, %r8, 1;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p4, %r6, 512;\n@%p4 bra "
         "LOAD;\n"
         "bar.sync 0;\n@%p2 tcgen05.dealloc." +
         group +
         ".sync.aligned.b32 %r10, 512;\n"
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nret;\n}\n";
    return t;
  }

  /// What the launch traps with, and what the checks find; empty: nothing.
  std::string trap(uint64_t a, uint64_t b, uint32_t descriptor) {
    SimRun run(text());
    run.buffer(images).buffer(before_).buffer(after_).scalar(a).scalar(b).scalar(descriptor);
    run.params.cluster = {uint32_t(ctas), 1, 1};
    run.params.checks = {.uninitialized = true, .races = true};
    std::string said = run.launch(uint32_t(ctas), 128).trap.message;
    for (const Finding& finding : run.findings.take()) said += finding.message + finding.detail + "\n";
    return said;
  }
  void run(uint64_t a, uint64_t b, uint32_t descriptor) {
    const std::string said = trap(a, b, descriptor);
    if (!said.empty()) throw std::runtime_error(said + "\n" + text());
  }

  std::vector<std::byte> images = std::vector<std::byte>(size_t(2) * kImageBytes);

private:
  static size_t index(int cta, int lane, int column) {
    return (size_t(cta) * 128 + size_t(lane)) * kColumns + size_t(column);
  }
  std::vector<uint32_t> before_ = std::vector<uint32_t>(size_t(2) * 128 * kColumns);
  std::vector<uint32_t> after_ = before_;
};

} // namespace tiletwin::sim
