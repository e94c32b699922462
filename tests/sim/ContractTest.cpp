// tests/sim/ContractTest.cpp -- which products and sums become one fma: each case as ptxas 13.0 compiles it for sm_90.
#define BOOST_TEST_MODULE sim_contract
#include "tests/sim/SimRun.h"
#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

// x * y is not a float: 1 + 2^-11 + 2^-24, rounded to 1 + 2^-11. Less the rounded product, an fma leaves 2^-24.
constexpr float kX = 1 + 0x1p-12f, kProduct = 1 + 0x1p-11f, kRest = 0x1p-24f;

/// %f0 = %f1 = x, %f2 = -fl(x * x), %f3 = 3; what `body` leaves in %f10 and %f11.
std::vector<float> run(const std::string& body, bool contract = true) {
  LoadOptions options;
  options.contract = contract;
  std::vector<float> in{kX, kX, -kProduct, 3}, out{0, 0};
  SimRun sim(ptxKernel(2, "ld.global.f32 %f0, [%rd0];\nld.global.f32 %f1, [%rd0+4];\nld.global.f32 %f2, [%rd0+8];\n"
                          "ld.global.f32 %f3, [%rd0+12];\nmov.f32 %f11, 0f00000000;\n" +
                              body + "\nst.global.f32 [%rd1], %f10;\nst.global.f32 [%rd1+4], %f11;"),
             options);
  sim.buffer(in).buffer(out);
  const Result r = sim.launch(1, 1);
  if (r.trap) throw std::runtime_error(body + ": " + r.trap.message);
  return out;
}

bool isFused(const std::string& body) { return run(body)[0] == kRest; }

} // namespace

BOOST_AUTO_TEST_CASE(fused) {
  for (const char* body : {
           "mul.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f4, %f2;",
           "mul.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f2, %f4;",
           "mul.f32 %f4, %f0, %f1;\nneg.f32 %f5, %f2;\nsub.f32 %f10, %f4, %f5;",
           "mul.f32 %f4, %f0, %f1;\nneg.f32 %f5, %f2;\nsub.f32 %f6, %f5, %f4;\nneg.f32 %f10, %f6;",
           "mul.f32 %f4, %f0, %f1;\nneg.f32 %f5, %f4;\nneg.f32 %f6, %f2;\nadd.f32 %f7, %f5, %f6;\nneg.f32 %f10, %f7;",
           "mul.f32 %f4, %f0, %f1;\nmov.f32 %f5, %f4;\nadd.f32 %f10, %f5, %f2;",
           "mul.ftz.f32 %f4, %f0, %f1;\nadd.ftz.f32 %f10, %f4, %f2;",
           "mul.f32 %f4, %f0, %f1;\nadd.sat.f32 %f10, %f4, %f2;",
           "mul.f32 %f4, %f0, %f1;\nbar.sync 0;\nadd.f32 %f10, %f4, %f2;",
           "mov.f32 %f10, %f3;\nsetp.gt.f32 %p0, %f3, 0f00000000;\nmul.f32 %f4, %f0, %f1;\n@%p0 add.f32 %f10, %f4, "
           "%f2;",
       })
    BOOST_TEST(isFused(body), body);
}

BOOST_AUTO_TEST_CASE(apart) {
  for (const char* body : {
           "mul.rn.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f4, %f2;",
           "mul.f32 %f4, %f0, %f1;\nadd.rn.f32 %f10, %f4, %f2;",
           "mul.ftz.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f4, %f2;",
           "mul.f32 %f4, %f0, %f1;\nadd.ftz.f32 %f10, %f4, %f2;",
           "mul.sat.f32 %f4, %f0, 0f3F800000;\nadd.f32 %f10, %f4, 0fBF800000;",
           "mul.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f4, %f2;\nmov.f32 %f11, %f4;\nst.global.f32 [%rd1], %f11;",
           "mul.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f4, %f2;\nmul.f32 %f11, %f4, %f3;",
           "mul.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f4, %f2;\nfma.rn.f32 %f11, %f3, %f3, %f4;",
           "mul.f32 %f4, %f0, %f1;\nabs.f32 %f5, %f4;\nadd.f32 %f10, %f5, %f2;",
           "mul.f32 %f4, %f0, %f1;\nsetp.lt.f32 %p0, %f3, 0f00000000;\n@%p0 bra L;\nbar.sync 0;\nL:\nadd.f32 %f10, "
           "%f4, %f2;",
           "setp.gt.f32 %p0, %f3, 0f00000000;\nmov.f32 %f4, %f2;\n@%p0 mul.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f4, %f2;",
       })
    BOOST_TEST(run(body)[0] == 0.0f, body);
  BOOST_TEST(run("mul.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f4, %f2;", false)[0] == 0.0f);
  BOOST_TEST(run("mul.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f4, %f4;")[0] == 2 * kProduct);
}

/// Of two products the first operand's is fused, wherever it was computed; the other one then stays one everywhere.
BOOST_AUTO_TEST_CASE(two_products) {
  const std::string both = "neg.f32 %f6, %f0;\nmul.f32 %f5, %f6, %f1;\nmul.f32 %f4, %f0, %f1;\n";
  BOOST_TEST(run(both + "add.f32 %f10, %f4, %f5;")[0] == kRest);  // x * x - fl(x * x)
  BOOST_TEST(run(both + "add.f32 %f10, %f5, %f4;")[0] == -kRest); // -x * x + fl(x * x)
  BOOST_TEST(run(both + "neg.f32 %f7, %f2;\nadd.f32 %f10, %f4, %f5;\nadd.f32 %f11, %f5, %f7;") ==
             (std::vector<float>{kRest, 0}));
  BOOST_TEST(run("mul.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f4, %f2;\nneg.f32 %f5, %f2;\nsub.f32 %f11, %f5, %f4;") ==
             (std::vector<float>{kRest, -kRest}));
}

/// The last product of an approximate quotient is one like any other: ptxas 13 fuses it (tests/counters/test_machine_operations.py
/// runs what it makes).
BOOST_AUTO_TEST_CASE(quotients) {
  const float inverse = run("rcp.approx.ftz.f32 %f10, %f1;")[0];
  const float x = run("mov.f32 %f10, %f0;")[0], z = run("mov.f32 %f10, %f2;")[0];
  for (const char* form : {"full", "approx", "full.ftz", "approx.ftz"}) {
    const std::string flush = std::string_view(form).ends_with("ftz") ? ".ftz" : "";
    const std::string quotient = "div." + std::string(form) + ".f32 %f4, %f0, %f1;\n";
    BOOST_TEST(run(quotient + "add" + flush + ".f32 %f10, %f4, %f2;")[0] == std::fma(inverse, x, z), form);
    BOOST_TEST(run(quotient + "sub" + flush + ".f32 %f10, %f2, %f4;")[0] == std::fma(inverse, -x, z), form);
    BOOST_TEST(run(quotient + "add.rn" + flush + ".f32 %f10, %f4, %f2;")[0] == inverse * x + z, form);
    BOOST_TEST(run(quotient + "add" + flush + ".f32 %f10, %f4, %f2;", false)[0] == inverse * x + z, form);
  }
  // A quotient by a number is a product with the nearest number to its reciprocal, which the unit does not have for 255.
  const float byte = 1.0f / 255;
  BOOST_TEST(run("div.full.f32 %f10, %f3, 0f437F0000;")[0] == run("mov.f32 %f10, %f3;")[0] * byte);
  BOOST_TEST(run("mov.b32 %f5, 1132396544;\ndiv.approx.f32 %f10, %f3, %f5;")[0] == run("mov.f32 %f10, %f3;")[0] * byte);
  BOOST_TEST(run("mov.b32 %f5, 0f437F0000;\ndiv.approx.f32 %f4, %f0, %f5;\nadd.f32 %f10, %f4, %f2;")[0] ==
             std::fma(x, byte, z));
}

/// Removed products leave labels where they belong: a loop that sums x * x.
BOOST_AUTO_TEST_CASE(in_a_loop) {
  const std::string body = "mov.u32 %r0, 0;\nmov.f32 %f10, %f2;\nL:\nmul.f32 %f4, %f0, %f1;\nadd.f32 %f10, %f10, %f4;\n"
                           "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, 3;\n@%p0 bra L;";
  float sum = -kProduct;
  for (int i = 0; i < 3; ++i) sum = std::fma(kX, kX, sum);
  BOOST_TEST(run(body)[0] == sum);
}

BOOST_AUTO_TEST_CASE(other_types) {
  std::vector<double> in{1 + 0x1p-27, -(1 + 0x1p-26)}, out{0};
  SimRun wide(ptxKernel(2, "ld.global.f64 %fd0, [%rd0];\nld.global.f64 %fd1, [%rd0+8];\nmul.f64 %fd2, %fd0, %fd0;\n"
                           "add.f64 %fd3, %fd2, %fd1;\nst.global.f64 [%rd1], %fd3;"));
  wide.buffer(in).buffer(out);
  BOOST_REQUIRE(!wide.launch(1, 1).trap);
  BOOST_TEST(out[0] == 0x1p-54);
  // f16: (1 + 2^-6)^2 = 1 + 2^-5 + 2^-12, which rounds to 1 + 2^-5.
  std::vector<uint32_t> halves{0x3C103C10u, 0xBC20BC20u}, result{0};
  SimRun narrow(ptxKernel(2, "ld.global.b32 %r0, [%rd0];\nld.global.b32 %r1, [%rd0+4];\nmul.f16x2 %r2, %r0, %r0;\n"
                             "add.f16x2 %r3, %r2, %r1;\nst.global.b32 [%rd1], %r3;"));
  narrow.buffer(halves).buffer(result);
  BOOST_REQUIRE(!narrow.launch(1, 1).trap);
  BOOST_TEST(result[0] == 0x0C000C00u); // 2^-12
}
