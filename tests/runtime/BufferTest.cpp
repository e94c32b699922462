// tests/runtime/BufferTest.cpp -- the registry of buffers: look-up by address.
#define BOOST_TEST_MODULE runtime
#include "runtime/Buffer.h"
#include "runtime/DType.h"
#include <boost/test/unit_test.hpp>
#include <string>

using namespace tiletwin;

static Buffer buffer(std::string name, uintptr_t begin, uintptr_t end) {
  Buffer b;
  b.name = std::move(name);
  b.begin = begin;
  b.end = end;
  return b;
}

static std::string nameAt(const BufferRegistry& registry, uintptr_t address) {
  auto found = registry.find(address);
  return found ? found->name : "";
}

BOOST_AUTO_TEST_CASE(find_looks_at_storage_borders) {
  BufferRegistry registry;
  registry.add(buffer("b", 200, 300));
  registry.add(buffer("a", 100, 200));
  BOOST_TEST(nameAt(registry, 99) == "");
  BOOST_TEST(nameAt(registry, 100) == "a");
  BOOST_TEST(nameAt(registry, 199) == "a");
  BOOST_TEST(nameAt(registry, 200) == "b");
  BOOST_TEST(nameAt(registry, 300) == "");
}

BOOST_AUTO_TEST_CASE(find_sees_a_storage_around_a_smaller_entry) {
  BufferRegistry registry;
  registry.add(buffer("storage", 100, 1000));
  registry.add(buffer("inside", 200, 300));
  BOOST_TEST(nameAt(registry, 250) == "inside");
  BOOST_TEST(nameAt(registry, 500) == "storage");
}

BOOST_AUTO_TEST_CASE(adding_again_replaces_and_removing_forgets) {
  BufferRegistry registry;
  registry.add(buffer("old", 100, 200));
  registry.add(buffer("new", 100, 150));
  BOOST_TEST(nameAt(registry, 120) == "new");
  BOOST_TEST(nameAt(registry, 170) == "");
  registry.remove(100);
  registry.remove(100); // unknown: nothing happens
  BOOST_TEST(nameAt(registry, 120) == "");
}

BOOST_AUTO_TEST_CASE(a_view_that_is_not_given_is_the_storage) {
  BufferRegistry registry;
  registry.add(buffer("a", 100, 200));
  auto found = registry.find(100);
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->viewBegin == 100u);
  BOOST_TEST(found->viewEnd == 200u);
}

BOOST_AUTO_TEST_CASE(nearest_measures_from_either_end) {
  BufferRegistry registry;
  BOOST_TEST(!registry.nearest(5).has_value());
  registry.add(buffer("a", 100, 200));
  registry.add(buffer("b", 300, 400));
  BOOST_TEST(registry.nearest(0)->name == "a");
  BOOST_TEST(registry.nearest(240)->name == "a");
  BOOST_TEST(registry.nearest(260)->name == "b");
  BOOST_TEST(registry.nearest(350)->name == "b");
  BOOST_TEST(registry.nearest(~uintptr_t(0))->name == "b");
}

BOOST_AUTO_TEST_CASE(names_of_types_are_those_of_the_ir) {
  BOOST_TEST(nameOf(DType::I1) == std::string("i1"));
  BOOST_TEST(nameOf(DType::F8E4M3B11FNUZ) == std::string("f8E4M3B11FNUZ"));
  BOOST_TEST(nameOf(DType::BF16) == std::string("bf16"));
  BOOST_TEST(nameOf(DType::Ptr) == std::string("ptr"));
}
