// tests/tools/CodegenPasses.h -- the steps of codegen/ as passes of tiletwin-opt.
#pragma once

namespace tiletwin::codegen {

/// One pass for each step from ttir to ttgir (codegen/passes/Steps.h) under its name, and twg-make-ttgir, all of them.
/// Options: arch, num-warps, num-stages, fp-fusion. Besides, test-drop-layouts: leaves twg.convert_layout without one, so that a
/// test can see whether anybody looks.
void registerCodegenPasses();

} // namespace tiletwin::codegen
