// sim/driver/DeviceRuntime.cpp -- see DeviceRuntime.h.
// A grid's barrier is PTX of ours, for lanes that come one by one too: each block waits for its threads, one thread counts the block in, and waits for the round to
// end. It needs all blocks to be resident, which a cooperative launch promises, and its memory is the module's: two cooperative
// kernels of one module that run at the same time would share it, and a stream's order keeps them apart.
#include "sim/driver/DeviceRuntime.h"
#include "sim/driver/LinkPtx.h"
#include <algorithm>
#include <array>
#include <string_view>

namespace tiletwin::driver {
namespace {

constexpr std::array<std::string_view, 3> kFunctions{"cudaCGGetIntrinsicHandle", "cudaCGSynchronize",
                                                     "cudaGraphSetConditional"};

// A condition's handle is its address (Graph.h).
constexpr std::string_view kConditions = R"(
.version 7.0
.target sm_80
.address_size 64
.weak .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.b64 %rd1, [handle];
	ld.param.b32 %r1, [value];
	st.relaxed.sys.global.u32 [%rd1], %r1;
	ret;
}
)";

constexpr std::string_view kGridBarrier = R"(
.version 7.0
.target sm_80
.address_size 64
.global .align 4 .u32 tiletwin_grid_arrived;
.global .align 4 .u32 tiletwin_grid_round;
.weak .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
	.reg .b64 %rd<2>;
	mov.b64 %rd1, 1;
	st.param.b64 [result], %rd1;
	ret;
}
.weak .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
	.reg .pred %p<4>;
	.reg .b32 %r<16>;
	barrier.sync 0;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %tid.y;
	mov.u32 %r3, %tid.z;
	or.b32 %r1, %r1, %r2;
	or.b32 %r1, %r1, %r3;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra $L_joined;
	mov.u32 %r4, %nctaid.x;
	mov.u32 %r5, %nctaid.y;
	mov.u32 %r6, %nctaid.z;
	mul.lo.u32 %r4, %r4, %r5;
	mul.lo.u32 %r4, %r4, %r6;
	sub.u32 %r4, %r4, 1;
	ld.acquire.gpu.global.u32 %r7, [tiletwin_grid_round];
	atom.acq_rel.gpu.global.inc.u32 %r8, [tiletwin_grid_arrived], %r4;
	setp.eq.u32 %p2, %r8, %r4;
	@!%p2 bra $L_wait;
	atom.acq_rel.gpu.global.add.u32 %r9, [tiletwin_grid_round], 1;
	bra.uni $L_joined;
$L_wait:
	ld.acquire.gpu.global.u32 %r10, [tiletwin_grid_round];
	setp.eq.u32 %p3, %r10, %r7;
	@%p3 bra $L_wait;
$L_joined:
	barrier.sync 0;
	mov.b32 %r11, 0;
	st.param.b32 [result], %r11;
	ret;
}
)";

} // namespace

bool addDeviceRuntime(std::string& ptx, std::string& error) {
  const auto isNamed = [&](std::string_view name) { return ptx.find(name) != std::string::npos; };
  if (std::ranges::none_of(kFunctions, isNamed)) return true;
  const std::array<NamedText, 3> texts{NamedText{"kernel.ptx", ptx},
                                       NamedText{"the device runtime", std::string(kGridBarrier)},
                                       NamedText{"the device runtime's graphs", std::string(kConditions)}};
  std::string linked;
  if (!linkPtx(texts, linked, error)) return false;
  ptx = std::move(linked);
  return true;
}

} // namespace tiletwin::driver
