// tests/cuda/ImageTest.cpp -- what is read of PTX and cubins before a driver sees them.
#include "runtime/cuda/Image.h"
#include "FakeCuda.h"
#include "runtime/cuda/Module.h"
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

using namespace tiletwin::cuda;

namespace {

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

/// An ELF header for a GPU with a table of `count` sections, each of `sectionBytes` bytes from `sectionOffset` on.
std::vector<std::byte> cubin(unsigned char abi, uint32_t flags, uint16_t count, uint64_t sectionOffset,
                             uint64_t sectionBytes, uint32_t type = 1) {
  constexpr uint64_t kHeader = 64, kSection = 64;
  std::vector<std::byte> image(kHeader + count * kSection);
  auto put = [&](size_t at, auto value) { std::memcpy(image.data() + at, &value, sizeof value); };
  std::memcpy(image.data(), "\177ELF", 4);
  put(8, abi);
  put(40, kHeader);
  put(48, flags);
  put(58, uint16_t(kSection));
  put(60, count);
  for (uint64_t i = 0; i < count; ++i) {
    put(kHeader + i * kSection + 4, type);
    put(kHeader + i * kSection + 24, sectionOffset);
    put(kHeader + i * kSection + 32, sectionBytes);
  }
  return image;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_header_of_ptx) {
  const PtxHeader header = readPtxHeader(R"(// .version 1.0
/* .entry none() */ .version 8.7
.target sm_90a, debug // more
.address_size 64
.file 1 "strange .entry \" text.py"
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.visible .func helper(.param .b32 x) { .reg .b32 %entry; { ret; } }
.visible .entry first(
	.param .u64 .ptr .global .align 16 first_param_0,
	.param .u8 first_param_1,
	.param .align 64 .b8 first_param_2[128],
	.param .f16x2 first_param_3,
	.param .b64 first_param_4
)
.maxntid 128, 2
.reqnctapercluster 2, 1, 1
{
  .param .b32 inner; call helper, (inner); }
.entry second
{ ret; }
.entry third() .reqntid 0x20;
.entry third() .reqntid 32 { }
)");
  BOOST_TEST(header.version == 87);
  BOOST_TEST(header.target == "sm_90a");
  BOOST_REQUIRE_EQUAL(header.entries.size(), 3u);
  const PtxEntry& first = header.entries[0];
  BOOST_TEST(first.name == "first");
  struct Expected {
    const char *name, *type;
    uint32_t bytes, offset;
    bool isPointer;
    uint32_t alignment;
  };
  const Expected expected[] = {{"first_param_0", "u64", 8, 0, true, 16},
                               {"first_param_1", "u8", 1, 8, false, 1},
                               {"first_param_2", "b8", 128, 64, false, 1},
                               {"first_param_3", "f16x2", 4, 192, false, 1},
                               {"first_param_4", "b64", 8, 200, false, 1}};
  BOOST_REQUIRE_EQUAL(first.parameters.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    const PtxParameter& got = first.parameters[i];
    BOOST_TEST(got.name == expected[i].name);
    BOOST_TEST(got.type == expected[i].type);
    BOOST_TEST(got.bytes == expected[i].bytes);
    BOOST_TEST(got.offset == expected[i].offset);
    BOOST_TEST(got.isPointer == expected[i].isPointer);
    BOOST_TEST(got.pointerAlignment == expected[i].alignment);
    BOOST_TEST(PtxEntry::isNumber(got) == (i != 2));
  }
  BOOST_TEST(first.parameterBytes == 208u);
  BOOST_TEST(first.maxThreads == (std::array<uint32_t, 3>{128, 2, 1}), boost::test_tools::per_element());
  BOOST_TEST(first.requiredCluster == (std::array<uint32_t, 3>{2, 1, 1}), boost::test_tools::per_element());
  BOOST_TEST(first.requiredThreads == (std::array<uint32_t, 3>{}), boost::test_tools::per_element());
  BOOST_TEST(header.entries[1].name == "second");
  BOOST_TEST(header.entries[1].parameters.empty());
  BOOST_TEST(header.find("third")->requiredThreads == (std::array<uint32_t, 3>{32, 1, 1}),
             boost::test_tools::per_element());
  BOOST_TEST(!header.find("helper"));
}

BOOST_AUTO_TEST_CASE(texts_that_end_anywhere_are_read_to_their_end) {
  const std::string whole = tiletwin::test::kEntries + "/* a comment */ .file 1 \"a\\\"b\"";
  for (size_t length = 0; length <= whole.size(); ++length) {
    const PtxHeader header = readPtxHeader(whole.substr(0, length));
    BOOST_TEST(header.entries.size() <= 4u);
  }
  BOOST_TEST(readPtxHeader(whole).entries.size() == 4u);
  BOOST_TEST(readPtxHeader("").version == 0);
  BOOST_TEST(readPtxHeader("\"never ended \\").entries.empty());
}

BOOST_AUTO_TEST_CASE(kinds_of_images) {
  BOOST_TEST(readImage(bytes(tiletwin::test::kEntries)).text() == "PTX 9.0 for sm_80");
  BOOST_TEST(readImage(cubin(8, 0x6005a04, 1, 0, 1)).text() == "a cubin for sm_90");
  BOOST_TEST(readImage(cubin(7, 0x5a055a, 1, 0, 1)).text() == "a cubin for sm_90");
  BOOST_TEST(readImage(cubin(8, 0x6007802, 1, 0, 1)).capability == 120);
  BOOST_TEST(int(readImage(bytes("")).kind) == int(ImageKind::Unknown));
  BOOST_TEST(int(readImage(bytes("hello")).kind) == int(ImageKind::Unknown));
}

BOOST_AUTO_TEST_CASE(cubins_that_end_too_early) {
  BOOST_TEST(readImage(cubin(8, 0, 2, 0, 64)).isWhole);
  BOOST_TEST(readImage(cubin(8, 0, 2, 64, 128)).isWhole);
  BOOST_TEST(!readImage(cubin(8, 0, 2, 65, 128)).isWhole);
  BOOST_TEST(!readImage(cubin(8, 0, 2, ~uint64_t(0), 2)).isWhole);
  BOOST_TEST(!readImage(cubin(8, 0, 2, 2, ~uint64_t(0))).isWhole);
  BOOST_TEST(readImage(cubin(8, 0, 2, 0, 1 << 20, /*type=*/8)).isWhole); // sections of zeros have no bytes
  BOOST_TEST(!readImage(cubin(8, 0, 0, 0, 0)).isWhole);
  std::vector<std::byte> image = cubin(8, 0, 2, 0, 64);
  for (size_t length = 4; length < image.size(); ++length)
    BOOST_TEST(!readImage(std::span(image).first(length)).isWhole, "of " << length << " bytes");
}

BOOST_AUTO_TEST_CASE(which_gpu_runs_what) {
  struct Row {
    const char* target;
    bool isCubin;
    int capability;
    bool runs;
  };
  for (const Row& row :
       {Row{"sm_80", false, 90, true}, Row{"sm_80", true, 90, false}, Row{"sm_80", true, 86, true},
        Row{"sm_86", true, 80, false}, Row{"sm_90a", false, 90, true}, Row{"sm_90a", false, 100, false},
        Row{"sm_100f", false, 103, true}, Row{"sm_100f", false, 120, false}, Row{"sm_100", false, 120, true},
        Row{"sm_120", false, 90, false}, Row{"sm_90", true, 90, true}, Row{"", true, 90, true}})
    BOOST_TEST(whyNotRunnable(row.target, row.isCubin, row.capability).empty() == row.runs,
               row.target << " on sm_" << row.capability);
}
