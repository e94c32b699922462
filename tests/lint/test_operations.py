"""A stage that forgets an operation ends the build, and the error names the operation (ir/OpTable.h).

The stages here are small ones with two operations. That the real ones are made from all lists of ir/Registry.h is read
in their text.
"""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLANG = shutil.which("clang++-22") or pytest.fail("the tests need clang++-22, which builds tiletwin")
LLVM = pathlib.Path(subprocess.check_output(["llvm-config-22", "--prefix"], text=True).strip())

STAGE = """
#include "ir/OpTable.h"
namespace demo {
struct Builder {};
template <int number> struct Op {
  static constexpr llvm::StringLiteral getOperationName() { return "demo.op"; }
};
struct KnownOp : Op<0> {};
struct ForgottenOp : Op<1> {};
struct UnlistedOp : Op<2> {};
using AllOps = tiletwin::OpList<KnownOp, ForgottenOp>;

template <class Op> int plan(Builder&, Op);
template <> int plan(Builder&, KnownOp) { return 1; }

using Function = int (*)(Builder&);
std::size_t rows() {
  auto rowOf = []<class Op>() -> Function { return [](Builder& b) { return plan(b, Op()); }; };
  return tiletwin::OpTable<Function>::of<tiletwin::OpList<LEFT_OUT>, AllOps>(rowOf).names().size();
}
} // namespace demo
int main() { return int(demo::rows()); }
"""


def build(tmp_path, left_out):
    """Builds the stage without the operations `left_out`; the program's exit status is the number of its rows."""
    source = tmp_path / "stage.cpp"
    source.write_text(STAGE.replace("LEFT_OUT", left_out))
    program = tmp_path / "stage"
    command = [CLANG, "-std=c++20", "-O1", "-DNDEBUG", "-fno-rtti", "-ffunction-sections", f"-I{ROOT}"]
    command += ["-isystem", LLVM / "include", source, "-o", program, "-fuse-ld=lld-22", "-Wl,--gc-sections"]
    command += [f"-L{LLVM / 'lib'}", "-lMLIRSupport", "-lLLVMSupport", "-lLLVMDemangle"]
    command += ["-lpthread", "-ldl", "-lm", "-lz", "-lzstd"]
    result = subprocess.run(command, capture_output=True, text=True)
    return program, result


def test_an_operation_without_a_function_is_named(tmp_path):
    _, result = build(tmp_path, left_out="")
    assert result.returncode != 0
    assert re.search(r"undefined symbol: int demo::plan<demo::ForgottenOp>\(", result.stderr), result.stderr
    assert "plan<demo::KnownOp>" not in result.stderr


def test_an_operation_that_is_left_out_needs_no_function(tmp_path):
    program, result = build(tmp_path, left_out="ForgottenOp")
    assert result.returncode == 0, result.stderr
    assert subprocess.run([program]).returncode == 1


def test_what_is_left_out_has_to_be_an_operation(tmp_path):
    _, result = build(tmp_path, left_out="ForgottenOp, UnlistedOp")
    assert result.returncode != 0
    assert "an operation that is left out is in no list" in result.stderr
    assert "demo::UnlistedOp" in result.stderr


@pytest.mark.parametrize(
    ("file", "lists"),
    [
        ("interp/plan/PlanTable.cpp", "TTOps TTGOps TWOps ArithOps MathOps ControlOps OtherOps LLVMOps"),
        ("codegen/emit/Table.cpp", "TTOps TTGOps TWOps TWGOps ArithOps MathOps ControlOps OtherOps LLVMOps"),
        ("diff/bounds/Rules.cpp", "TTOps ArithOps MathOps"),
    ],
)
def test_stages_are_made_from_all_operations(file, lists):
    made = re.search(r"OpTable<\w+>::of<(.*?)>\(", (ROOT / file).read_text(), re.DOTALL)
    assert made, f"{file} has no table"
    assert set(lists.split()) <= set(re.findall(r"\w+", made[1]))
