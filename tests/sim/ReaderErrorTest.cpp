// tests/sim/ReaderErrorTest.cpp -- each mistake that the reader finds: its place and its text.
#define BOOST_TEST_MODULE reader_error
#include "tests/sim/PtxText.h"

using namespace tiletwin::sim::ptx;

namespace {

struct Mistake {
  std::string text, error;
};

void check(const Mistake& mistake, const std::string& error) {
  BOOST_TEST(error == mistake.error, mistake.text << "\n  gives    " << error << "\n  expected " << mistake.error);
}

} // namespace

BOOST_AUTO_TEST_CASE(diagnostics_show_the_line) {
  Diagnostic error{{2, 6}, "expected ';'"};
  BOOST_TEST(error.render("a.ptx", "one\n\ttwo three\r\nfour") == "a.ptx:2:6: expected ';'\n\ttwo three\n\t    ^");
  BOOST_TEST((Diagnostic{{1, 4}, "m"}.render("f", "\xC3\xA9 x")) ==
             "f:1:4: m\n\xC3\xA9 x\n  ^"); // one character of two bytes
  BOOST_TEST((Diagnostic{{9, 1}, "m"}.render("f", "x")) == "f:9:1: m");
  BOOST_TEST((Diagnostic{{0, 0}, "m"}.render("f", "x")) == "f: m");
  BOOST_TEST((Diagnostic{{1, 2}, "m"}.render("f", "x")) == "f:1:2: m\nx\n ^");
}

BOOST_AUTO_TEST_CASE(headers_of_modules) {
  const Mistake mistakes[] = {
      {"", "1:1: expected .version, got the end of the text"},
      {".target sm_90", "1:1: expected .version, got '.target'"},
      {".version", "1:9: expected a version such as 8.0, got the end of the text"},
      {".version 8", "1:10: expected a version such as 8.0, got '8'"},
      {".version 8.0e1", "1:10: expected a version such as 8.0, got '8.0e1'"},
      {".version 2.3 .target sm_50", "1:10: PTX of version 2.3 is not supported: versions 3.0 to 9.x are"},
      {".version 10.0 .target sm_50", "1:10: PTX of version 10.0 is not supported: versions 3.0 to 9.x are"},
      {".version 8.0 .entry", "1:14: expected .target, got '.entry'"},
      {".version 8.0 .target debug", "1:27: expected a target such as sm_90, got the end of the text"},
      {".version 8.0 .target sm_90, sm_80", "1:29: target 'sm_80' is not supported"},
      {".version 8.0 .target map_f64_to_f32", "1:22: target 'map_f64_to_f32' is not supported"},
      {".version 8.0 .target sm_xx", "1:22: target 'sm_xx' is not supported"},
      {".version 8.0 .target sm_90 .address_size 48", "1:42: expected an address size of 32 or 64"},
      {".version 8.0 .target sm_90 .address_size 1.5", "1:42: expected 32 or 64, got a floating-point number"},
  };
  for (const Mistake& m : mistakes) {
    Diagnostic error;
    BOOST_TEST(!read(m.text, error));
    check(m, std::to_string(error.at.line) + ":" + std::to_string(error.at.column) + ": " + error.message);
  }
}

BOOST_AUTO_TEST_CASE(text_that_is_no_ptx) {
  const Mistake mistakes[] = {
      {"\x01", "4:1: unexpected character '\\x01'"},
      {"\\", "4:1: unexpected character '\\'"},
      {"\n  /* x\n\n", "5:3: a comment that begins here has no end"},
      {".file 1 \"x\n\"", "4:9: a string that begins here has no end on its line"},
      {". x", "4:1: expected the name of a directive or modifier behind '.'"},
      {"#line 5", "4:1: unexpected character '#'"},
      {"$ x", "4:1: unexpected character '$'"},
      {std::string(".global\0.b32 x;", 15), "4:8: unexpected character '\\x00'"},
      {".global .b32 x = 08;", "4:18: '08' is no integer of 64 bits"},
      {".global .b32 x = 0b12;", "4:18: '0b12' is no integer of 64 bits"},
      {".global .b32 x = 0x;", "4:18: '0x' is no number"},
      {".global .b32 x = 5u;", "4:18: '5u' is no number"},
      {".global .b32 x = 0f3F8;", "4:18: '0f3F8' is no number"},
      {".global .b32 x = 0f3F8000000;", "4:18: '0f3F8000000' is no number"},
      {".global .b32 x = 1e;", "4:18: '1e' is no number"},
      {".global .b32 x = 1.5f;", "4:18: '1.5f' is no number"},
      {".global .b32 x = 18446744073709551616;", "4:18: '18446744073709551616' is no integer of 64 bits"},
      {".global .f64 x = 1e400;", "4:18: '1e400' is beyond the range of double precision"},
  };
  for (const Mistake& m : mistakes) check(m, errorOf(m.text));
}

BOOST_AUTO_TEST_CASE(constants) {
  const Mistake mistakes[] = {
      {"1/0", "4:19: division by zero"},
      {"1 % (2-2)", "4:20: division by zero"},
      {"(-9223372036854775807-1)/-1", "4:42: the quotient is no integer of 64 bits"},
      {"1 + 2.0", "4:20: an integer and a floating-point number in one operation"},
      {"1.5 ? 2 : 3", "4:22: the condition of '?' must be an integer"},
      {"1 ? 2", "4:23: expected ':' of a choice, got ';'"},
      {"!1.0", "4:18: '!' takes an integer"},
      {"~1.0", "4:18: '~' takes an integer"},
      {"1.0 % 2.0", "4:22: this operator takes integers"},
      {"-0f3F800000", "4:18: a number in hexadecimal takes no operators"},
      {"0f3F800000 + 1.0", "4:29: a number in hexadecimal takes no operators"},
      {"1.0 + 0f3F800000", "4:22: a number in hexadecimal takes no operators"},
      {"(.u32)5", "4:19: expected a constant, .s64 or .u64, got '.u32'"},
      {"(.s64)2.7", "4:19: a cast takes an integer"},
      {"(1", "4:20: expected ')' behind a constant, got ';'"},
      {"1 +", "4:21: expected a constant, got ';'"},
      {"1 + x", "4:22: expected a constant, got 'x'"},
      {std::string(100, '(') + "1", "4:82: a constant expression is nested too deeply"},
      {std::string(200, '-') + "1", "4:145: a constant expression is nested too deeply"},
  };
  for (const Mistake& m : mistakes) check(m, errorOf(".global .u64 a = " + m.text + ";"));
}

BOOST_AUTO_TEST_CASE(module_items) {
  const Mistake mistakes[] = {
      {"add.s32 a, b, c;", "4:1: expected a directive such as .entry, .func or .global, got 'add'"},
      {";", "4:1: expected a directive such as .entry, .func or .global, got ';'"},
      {"@@DWARF", "4:1: only sections (.section) hold debug information here: @@DWARF is not supported"},
      {".foo", "4:1: unknown directive '.foo'"},
      {".globl .b32 x;", "4:1: unknown directive '.globl'"},
      {".visible .entri f() {}", "4:10: unknown directive '.entri'"},
      {".version 8.0", "4:1: expected a state space, a type or .align, got '.version'"},
      {".visible .extern .func f();", "4:10: a second linking directive, '.extern'"},
      {".pragma 5;", "4:9: expected a string, got '5'"},
      {".pragma \"x\"", "4:12: expected ';' behind a pragma, got the end of the text"},
      {".alias 5, f;", "4:8: expected the name of a function, got '5'"},
      {".alias f;", "4:9: expected ',' behind an alias, got ';'"},
      {".func f(); .alias f, g;", "4:19: there is no function 'g'"},
      {".func f() { ret; } .alias g, f;", "4:27: there is no function 'g'"},
      {".func f(); .func g(); .alias f, g;", "4:30: 'g' has no body and cannot have an alias"},
      {".func f() { ret; } .func g() { ret; } .alias f, g;", "4:46: 'f' has a body and cannot be an alias"},
      {".file x", "4:7: expected an integer, got 'x'"},
      {".file 65537 \"x\"", "4:7: expected an integer from 0 to 65536"},
      {".file 1 x", "4:9: expected the name of a file, got 'x'"},
      {".file 1 \"x\" .file 1 \"y\"", "4:19: file 1 is declared twice"},
      {".section debug", "4:10: expected the name of a section, got 'debug'"},
      {".section .debug_str ;", "4:21: expected '{' behind the name of a section, got ';'"},
      {".section .debug_str { .b8 1 // }\n",
       "4:21: expected '}' to close the section that begins here, got the end of the text"},
      {".section .debug_str { \"x\n }", "4:23: a string that begins here has no end on its line"},
  };
  for (const Mistake& m : mistakes) check(m, errorOf(m.text));
}

BOOST_AUTO_TEST_CASE(variables) {
  const Mistake mistakes[] = {
      {".b32 a;", "4:6: expected a state space such as .global, got 'a'"},
      {".global a;", "4:9: expected a type such as .b32, got 'a'"},
      {".global .b32", "4:13: expected a name, got the end of the text"},
      {".global .b32 _;", "4:14: expected a name, got '_'"},
      {".global .b32 a b;", "4:16: expected ';' behind a variable, got 'b'"},
      {".global .shared .b32 a;", "4:9: a second state space, '.shared'"},
      {".global .b32 .b32 a;", "4:14: a second type, '.b32'"},
      {".global .v2 .v2 .b32 a;", "4:13: a second vector length, '.v2'"},
      {".global .v8 .b32 a;", "4:9: expected a state space, a type or .align, got '.v8'"},
      {".global .v4 .f64 a;", "4:1: a vector has at most 128 bits"},
      {".global .bf16 a;", "4:9: nothing is declared of type '.bf16': use .b16"},
      {".global .texref a;", "4:9: textures, samplers and surfaces ('.texref') are not implemented"},
      {".const[2] .b32 a;", "4:7: numbered constant banks are not supported"},
      {".reg .b32 a;", "4:1: variables of a module are in .global, .const or .shared"},
      {".local .b32 a;", "4:1: variables of a module are in .global, .const or .shared"},
      {".global .pred a;", "4:1: predicates are registers, and no vectors"},
      {".global .align 3 .b32 a;", "4:16: an alignment is a power of two, at most 65536"},
      {".global .align 0 .b32 a;", "4:16: an alignment is a power of two, at most 65536"},
      {".global .align .b32 a;", "4:16: expected an alignment, got '.b32'"},
      {".global .attribute .b32 a;", "4:20: expected '(' behind .attribute, got '.b32'"},
      {".global .attribute(.x) .b32 a;", "4:20: expected .managed or .unified, got '.x'"},
      {".global .attribute(.unified(1)) .b32 a;", "4:30: expected ',' in .unified, got ')'"},
      {".global .u64 .ptr a;", "4:14: .ptr stands behind the type of a parameter of 32 or 64 bits"},
      {".global .b32 a; .global .b32 a;", "4:30: 'a' is declared twice"},
      {".global .b32 a; .func a();", "4:23: 'a' is declared twice"},
      {".func a(); .global .b32 a;", "4:25: 'a' is declared twice"},
      {".global .b32 a1; .global .b32 a<2>;", "4:31: 'a' is declared twice"},
      {".global .b32 a<2>; .global .b32 a1;", "4:33: 'a1' is declared twice"},
      {".extern .global .b32 a; .shared .b32 a;", "4:38: 'a' was declared as something else"},
      {".global .b32 a<0>;", "4:16: a number of names is from 1 to 1048576"},
      {".global .b32 a<2000000000>;", "4:16: a number of names is from 1 to 1048576"},
      {".global .b32 a<x>;", "4:16: expected a number of names, got 'x'"},
      {".global .b32 a<2;", "4:17: expected '>' behind a number of names, got ';'"},
      {".global .b32 a<2>[3];", "4:18: expected ';' behind a variable, got '['"},
      {".global .b32 a[];", "4:14: 'a' has no size"},
      {".global .b32 a[0];", "4:14: 'a' has no size"},
      {".global .b32 a[-1];", "4:16: the extent of an array is negative"},
      {".global .b32 a[2][];", "4:19: expected the extent of an array, got ']'"},
      {".global .b32 a[2;", "4:17: expected ']' behind an extent, got ';'"},
      {".global .b32 a[1000000000][1000000000];", "4:14: 'a' is too large"},
      {".global .b32 a[0][4611686018427387904][4];", "4:14: 'a' is too large"},
  };
  for (const Mistake& m : mistakes) check(m, errorOf(m.text));
  std::string deep = ".global .b8 a";
  for (int i = 0; i < 65; ++i) deep += "[1]";
  BOOST_TEST(errorOf(deep + ";") == "4:207: an array of too many dimensions");
}

BOOST_AUTO_TEST_CASE(initial_values) {
  const Mistake mistakes[] = {
      {".shared .b32 s = 5;", "4:14: only variables in .global and .const have initial values"},
      {".extern .global .b32 a = 5;", "4:22: 'a' cannot have an initial value"},
      {".global .b32 a<2> = 5;", "4:14: 'a' cannot have an initial value"},
      {".global .f16 a = 1.0;", "4:14: variables of type .f16 cannot have an initial value"},
      {".global .f32 a = 1;", "4:18: an integer is no value of type .f32"},
      {".global .u32 a = 1.5;", "4:18: a constant of another type than .u32"},
      {".global .b16 a = 1.5;", "4:18: a constant of another type than .b16"},
      {".global .f64 a = 0f3F800000;", "4:18: a constant of another type than .f64"},
      {".global .b8 a[] = \"x\";", "4:19: expected '{' of a row of initial values, got a string"},
      {".global .b32 a[2] = 5;", "4:21: expected '{' of a row of initial values, got '5'"},
      {".global .b32 a = {5};", "4:18: too many braces around an initial value"},
      {".global .b32 a = ;", "4:18: expected an initial value, got ';'"},
      {".global .b32 a[2] = {1,};", "4:24: expected an initial value, got '}'"},
      {".global .b32 a[2] = {1 2};", "4:24: expected ',' or '}' in a row of initial values, got '2'"},
      {".global .b32 a[2] = {1, 2, 3};", "4:28: more than 2 initial values in a row"},
      {".global .b32 a[2][2] = {1, 2};", "4:25: expected '{' of a row of initial values, got '1'"},
      {".global .b32 a[2][2] = {{1}, {2}};", "4:30: a row of initial values in front of this one is incomplete"},
      {".global .v2 .b32 a = {1};", "4:22: too few initial values of a vector"},
      {".global .b32 a[] = {};", "4:20: an array without an extent has initial values"},
      {".global .b8 a[67108865] = {1};", "4:13: initial values of more than 64 MiB"},
      {".global .b8 a[][67108865] = {{1}};", "4:13: initial values of more than 64 MiB"},
      {".global .f32 x; .global .f32 p = x;", "4:34: an address does not fit type .f32"},
      {".global .b16 x; .global .b16 p = x;", "4:34: an address does not fit type .b16"},
      {".global .u64 p = x;", "4:18: unknown name 'x'"},
      {".global .u64 p = generic(5);", "4:26: expected the name of a variable or function, got '5'"},
      {".global .u64 p = generic(x;", "4:27: expected ')' behind a generic address, got ';'"},
      {".global .u64 p = x + y;", "4:22: expected an offset, got 'y'"},
      {".global .u8 p = 0xF0(x);", "4:17: a mask is 0xFF, 0xFF00, ... 0xFF00000000000000"},
      {".global .u8 p = 0(x);", "4:17: a mask is 0xFF, 0xFF00, ... 0xFF00000000000000"},
      {".global .u64 p = 0xFF(x);", "4:18: only variables of one byte hold bytes of addresses"},
      {".global .u8 p = 0xFF(x;", "4:23: expected ')' behind a masked address, got ';'"},
      {".entry k() { .shared .b32 s; .global .u64 p = s; }",
       "4:47: the address of 's' is not known before the kernel runs"},
  };
  for (const Mistake& m : mistakes) check(m, errorOf(m.text));
}

BOOST_AUTO_TEST_CASE(functions) {
  const Mistake mistakes[] = {
      {".func", "4:6: expected the name of a function, got the end of the text"},
      {".func _() { ret; }", "4:7: expected the name of a function, got '_'"},
      {".common .func f();", "4:1: only variables are .common"},
      {".func f() ret;", "4:11: expected '{', ';' or a directive behind a function's header, got 'ret'"},
      {".func f(.b32 a);", "4:9: results and parameters are in .param or .reg"},
      {".func f(.shared .b32 a);", "4:9: results and parameters are in .param or .reg"},
      {".entry f(.reg .b32 a);", "4:10: a kernel's parameters are in .param"},
      {".func f(.param .b32 _);", "4:21: expected a name, got '_'"},
      {".func f(.param .b32 a;", "4:22: expected ')' behind parameters, got ';'"},
      {".func f(.param .b32 a<2>);", "4:21: a parameter has one name"},
      {".func f(.param .b8 a[0]);", "4:20: a parameter without a size"},
      {".func f(.reg .b32 a[2]);", "4:19: registers are no arrays"},
      {".func f(.param .b8 a[], .param .b8 b);", "4:25: a parameter of unknown size is the last one"},
      {".func f(.param .b32 a, .param .b32 a) { ret; }", "4:36: 'a' is declared twice"},
      {".func (.param .b32 a) f(.reg .b32 a) { ret; }", "4:35: 'a' is declared twice"},
      {".entry f(.param .u16 .ptr a);", "4:22: .ptr stands behind the type of a parameter of 32 or 64 bits"},
      {".entry f(.param .u64 .ptr .param a);", "4:27: expected a space that a pointer can point into, got '.param'"},
      {".entry f() .noreturn { ret; }", "4:12: expected a kernel's directive, '{' or ';', got '.noreturn'"},
      {".func f() .reqntid 1 { ret; }", "4:11: expected a function's directive, '{' or ';', got '.reqntid'"},
      {".entry f() .foo { ret; }", "4:12: expected a kernel's directive, '{' or ';', got '.foo'"},
      {".entry f() .reqntid { ret; }", "4:21: expected an integer, got '{'"},
      {".entry f() .reqntid 0 { ret; }", "4:21: expected an integer from 1 to 1048576"},
      {".entry f() .maxntid 1,2,3,4 { ret; }",
       "4:26: expected '{', ';' or a directive behind a function's header, got ','"},
      {".func f() { ret; } .func f() { ret; }", "4:26: 'f' is defined twice"},
      {".func f(); .func f(.reg .b32 a) { ret; }", "4:18: 'f' was declared with other results or parameters"},
      {".func f(.reg .b64 a); .func f(.reg .b32 a) { ret; }",
       "4:29: 'f' was declared with other results or parameters"},
      {".func f(); .entry f() { ret; }", "4:19: 'f' was declared with other results or parameters"},
      {".extern .func f() { ret; }", "4:15: an .extern function has no body here, but 'f' does"},
      {".entry k() { ret;", "4:18: expected '}' to close the block of line 4, got the end of the text"},
      {".entry k() { ret; } }", "4:21: expected a directive such as .entry, .func or .global, got '}'"},
  };
  for (const Mistake& m : mistakes) check(m, errorOf(m.text));
}

BOOST_AUTO_TEST_CASE(bodies) {
  const Mistake mistakes[] = {
      {"ret", "7:1: expected an operand, got '}'"},
      {"add.s32 %r1 %r2;", "6:13: expected ',' or ';' behind an operand, got '%r2'"},
      {";", "6:1: expected an instruction, a label or a directive, got ';'"},
      {"5;", "6:1: expected an instruction, a label or a directive, got '5'"},
      {"L: ;", "6:4: expected an instruction, a label or a directive, got ';'"},
      {"%r1 %r2;", "6:1: expected an instruction, got '%r1'"},
      {"@%r1 ret;", "6:2: '%r1' is no predicate"},
      {"@%tid.x ret;", "6:2: '%tid' is no predicate"},
      {"@p ret;", "6:2: 'p' is no predicate"},
      {"@5 ret;", "6:2: expected a predicate, got '5'"},
      {"@%p1 { ret; }", "6:6: expected an instruction, got '{'"},
      {"@%p1 L: ret;", "6:6: expected an instruction, got 'L'"},
      {".foo 5;", "6:1: unknown directive '.foo'"},
      {".b32 x;", "6:6: expected a state space such as .reg, got 'x'"},
      {".reg .b32 %r1;", "6:11: '%r1' is declared twice"},
      {".reg .b32 %r<2>;", "6:11: '%r' is declared twice"},
      {".reg .b32 q2; .reg .b32 q<5>;", "6:25: 'q' is declared twice"},
      {".reg .b32 q[2];", "6:11: registers are no arrays"},
      {".reg .b32 q<1048570>;", "6:11: a function has at most 1048576 registers"},
      {".reg .b32 q = 5;", "6:13: expected ';' behind a declaration, got '='"},
      {".reg .v2 .pred q;", "6:1: predicates are registers, and no vectors"},
      {".local .b32 q = 5;", "6:13: only variables in .global and .const have initial values"},
      {".shared .b32 q[];", "6:14: 'q' has no size"},
      {".local .b32 kp;", "6:13: 'kp' is declared twice"},
      {".file 1 \"x\"", "6:1: '.file' stands outside of functions"},
      {".section .x {}", "6:1: '.section' stands outside of functions"},
      {".branchtargets L;", "6:1: '.branchtargets' needs a label in front of it"},
      {"L: ret; L: ret;", "6:9: label 'L' stands twice in this block"},
      {"bra L;", "6:5: unknown name 'L'"},
      {"{ L: ret; } bra L;", "6:17: unknown name 'L'"},
      {"t: .branchtargets 5;", "6:19: expected a label, got '5'"},
      {"t: .branchtargets L", "7:1: expected ';' behind targets, got '}'"},
      {"t: .branchtargets k;", "6:19: 'k' is no label"},
      {"t: .calltargets L; L:", "6:17: 'L' is no function"},
      {"t: .calltargets 5;", "6:17: expected the name of a function, got '5'"},
      {"p: .callprototype 5;", "6:19: expected '_', got '5'"},
      {"p: .callprototype _ (.param .b32 _)", "7:1: expected ';' behind a prototype, got '}'"},
      {".loc 1 5 ret;", "6:10: expected an integer, got 'ret'"},
      {".loc 1 5 0, foo 5", "6:13: expected function_name or inlined_at, got 'foo'"},
      {".loc 1 5 0, inlined_at 1 2 3", "6:13: the place of inlined_at is that of no .loc in front of this one"},
      {".loc 1 5 0, function_name 5", "6:27: expected a label of .debug_str, got '5'"},
      {".loc 1 5 0, function_name L", "6:27: section .debug_str has no label 'L'"},
      {std::string(64, '{'), "6:64: more than 64 blocks inside of each other"},
  };
  for (const Mistake& m : mistakes) check(m, bodyError(m.text));
}

BOOST_AUTO_TEST_CASE(operands) {
  const Mistake mistakes[] = {
      {"x %r1, ;", "6:8: expected an operand, got ';'"},
      {"x %r10;", "6:3: there is no register '%r10'"},
      {"x %foo;", "6:3: there is no register '%foo'"},
      {"x %envreg32;", "6:3: there is no register '%envreg32'"},
      {"x %pm8;", "6:3: there is no register '%pm8'"},
      {"x %r1.x;", "6:6: '%r1' has no component '.x'"},
      {".reg .v2 .b32 v; x v.z;", "6:21: 'v' has no component '.z'"},
      {"x %r1.b8;", "6:6: '%r1' has no component '.b8'"},
      {"x %r1.b01234;", "6:6: '%r1' has no component '.b01234'"},
      {"x %tid.b0;", "6:7: '%tid' has no component '.b0'"},
      {"x -kp;", "6:4: 'kp' is no register to negate"},
      {"x -%tid.x;", "6:4: '%tid' is no register to negate"},
      {"x [%r1.b0];", "6:4: '%r1' is no register, variable or number"},
      {"x !%r1;", "6:4: '%r1' is no predicate"},
      {"x !kp;", "6:4: 'kp' is no predicate"},
      {"x (kp);", "6:4: expected a constant, got 'kp'"},
      {"x 5|%p1;", "6:5: expected a constant, got '%p1'"},
      {"x kp|%p1;", "6:5: only registers stand in front of '|'"},
      {"x %p1|5;", "6:7: only registers stand behind '|'"},
      {"x {%r1, {%r2}};", "6:9: expected a register, a variable or a constant, got '{'"},
      {"x {%r1, [%r2]};", "6:9: expected a register, a variable or a constant, got '['"},
      {"x {};", "6:4: expected an operand, got '}'"},
      {"x {%r1;", "6:7: expected ',' or '}' in a list of operands, got ';'"},
      {"call (%r1, k;", "6:13: expected ',' or ')' in a list of operands, got ';'"},
      {"x [];", "6:4: expected an address, got ']'"},
      {"x [1.5];", "6:4: an address is no floating-point number"},
      {"x [%tid.x];", "6:4: '%tid' is no register, variable or number"},
      {"x [%r1 %r2];", "6:8: expected '+', ',' or ']' in an address, got '%r2'"},
      {"x [%r1 + %r2];", "6:10: expected an offset, got '%r2'"},
      {"x [%r1 + 1.5];", "6:10: expected an offset, got a floating-point number"},
      {"x [L]; L:", "6:4: 'L' is no variable"},
      {"x [k];", "6:4: 'k' is no variable"},
      {"bra L+4; L:", "6:5: 'L' is no variable"},
      {"x kp[%r1];", "6:6: an index that is no constant is not implemented"},
      {"x q[1];", "6:3: 'q' is no array that was declared"},
      {"x kp[1;", "6:7: expected ']' behind an index, got ';'"},
      {"x kp[9223372036854775807];", "6:5: an index that is too large"},
      {"x \"s\";", "6:3: expected an operand, got a string"},
      {"x 5, .5.x;", "6:8: expected ',' or ';' behind an operand, got '.x'"},
  };
  for (const Mistake& m : mistakes) check(m, bodyError(m.text));
}

BOOST_AUTO_TEST_CASE(only_the_first_mistake_is_reported) {
  Diagnostic error{{7, 7}, "of an earlier text"};
  BOOST_TEST(!read(kHeader + ".global .b32 a; .global .b32 a; \x01", error));
  BOOST_TEST(error.message == "'a' is declared twice");
  BOOST_TEST(bool(read(kHeader, error)));
  BOOST_TEST(error.message.empty());
}

BOOST_AUTO_TEST_CASE(long_names_are_shortened) {
  BOOST_TEST(bodyError("bra " + std::string(100, 'a') + ";") == "6:5: unknown name '" + std::string(60, 'a') + "...'");
}

BOOST_AUTO_TEST_CASE(names_with_numbers_are_bounded) {
  std::string text;
  for (int i = 0; i < 5; ++i) text += ".func f" + std::to_string(i) + "() { .reg .b32 %r<1000000>; ret; }\n";
  BOOST_TEST(errorOf(text) == "8:24: too many names of the form name<number>");
}
