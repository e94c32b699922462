// tests/codegen/GpuFeaturesTest.cpp -- which features each architecture has, written down by architecture: the table itself
// is written by feature.
#define BOOST_TEST_MODULE gpu_features
#include "ir/GpuFeatures.h"
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ostream>
#include <string>

using tiletwin::tt::featuresOf;
using tiletwin::tt::GpuFeatures;

namespace {

struct Name {
  const char* name;
  bool GpuFeatures::* feature;
};
constexpr Name kNames[] = {
    {"asyncCopies", &GpuFeatures::asyncCopies},
    {"asyncProxy", &GpuFeatures::asyncProxy},
    {"bf16Arithmetic", &GpuFeatures::bf16Arithmetic},
    {"bf16Atomics", &GpuFeatures::bf16Atomics},
    {"bf16FromIntegers", &GpuFeatures::bf16FromIntegers},
    {"dependentLaunches", &GpuFeatures::dependentLaunches},
    {"fp8Conversions", &GpuFeatures::fp8Conversions},
    {"matrixLoads", &GpuFeatures::matrixLoads},
    {"mmaAmpere", &GpuFeatures::mmaAmpere},
    {"mmaFp8", &GpuFeatures::mmaFp8},
    {"mmaTuring", &GpuFeatures::mmaTuring},
    {"tcgen05", &GpuFeatures::tcgen05},
    {"tensorCopies", &GpuFeatures::tensorCopies},
    {"vectorAtomics", &GpuFeatures::vectorAtomics},
    {"warpReductions", &GpuFeatures::warpReductions},
    {"warpRoles", &GpuFeatures::warpRoles},
    {"wgmma", &GpuFeatures::wgmma},
};

std::string namesOf(const GpuFeatures& features) {
  std::string text;
  for (const Name& one : kNames)
    if (features.*one.feature) text += (text.empty() ? "" : " ") + std::string(one.name);
  return text;
}

struct Gpu {
  int capability;
  std::string features;
  uint32_t sharedKilobytes;
};
std::ostream& operator<<(std::ostream& out, const Gpu& gpu) { return out << "sm_" << gpu.capability; }

const std::string kTuring = "matrixLoads mmaTuring";
const std::string kAmpere = "asyncCopies bf16Arithmetic matrixLoads mmaAmpere mmaTuring warpReductions";
const std::string kAda = "asyncCopies bf16Arithmetic fp8Conversions matrixLoads mmaAmpere mmaFp8 mmaTuring "
                         "warpReductions";
const std::string kSinceHopper = "asyncCopies asyncProxy bf16Arithmetic bf16Atomics bf16FromIntegers dependentLaunches "
                                 "fp8Conversions matrixLoads mmaAmpere ";
const std::string kHopper = kSinceHopper + "mmaTuring tensorCopies vectorAtomics warpReductions warpRoles wgmma";
const std::string kBlackwell =
    kSinceHopper + "mmaFp8 mmaTuring tcgen05 tensorCopies vectorAtomics warpReductions warpRoles";
const std::string kBlackwellOfDesks =
    kSinceHopper + "mmaFp8 mmaTuring tensorCopies vectorAtomics warpReductions warpRoles";

const Gpu kGpus[] = {
    {0, "", 48},
    {70, "", 48},
    {75, kTuring, 64},
    {80, kAmpere, 163},
    {86, kAmpere, 99},
    {87, kAmpere, 163},
    {89, kAda, 99},
    {90, kHopper, 227},
    {100, kBlackwell, 227},
    {103, kBlackwell, 227},
    {110, kBlackwell, 227},
    {120, kBlackwellOfDesks, 99},
    {121, kBlackwellOfDesks, 99},
};

} // namespace

BOOST_DATA_TEST_CASE(features_by_architecture, boost::unit_test::data::make(kGpus), gpu) {
  BOOST_TEST(namesOf(featuresOf(gpu.capability)) == gpu.features);
  BOOST_TEST(featuresOf(gpu.capability).sharedKilobytesMost == gpu.sharedKilobytes);
}

BOOST_AUTO_TEST_CASE(architectures_without_a_letter_lack_what_later_ones_need_not_have) {
  for (int capability : {90, 100}) {
    const std::string name = "sm_" + std::to_string(capability);
    GpuFeatures all = featuresOf(capability, name + "a", 90), portable = featuresOf(capability, name, 90);
    BOOST_TEST(all.wgmma == (capability == 90));
    BOOST_TEST(all.tcgen05 == (capability == 100));
    all.wgmma = all.tcgen05 = false;
    BOOST_TEST(namesOf(portable) == namesOf(all));
  }
}

BOOST_AUTO_TEST_CASE(features_wait_for_the_ptx_version_that_has_them) {
  auto at = [](int capability, int version, bool GpuFeatures::* feature) {
    return featuresOf(capability, "sm_90a", version).*feature;
  };
  BOOST_TEST(!at(75, 64, &GpuFeatures::mmaTuring));
  BOOST_TEST(at(75, 65, &GpuFeatures::mmaTuring));
  BOOST_TEST(!at(75, 64, &GpuFeatures::matrixLoads));
  BOOST_TEST(at(75, 65, &GpuFeatures::matrixLoads));
  BOOST_TEST(!at(89, 80, &GpuFeatures::fp8Conversions));
  BOOST_TEST(at(89, 81, &GpuFeatures::fp8Conversions));
  BOOST_TEST(at(90, 80, &GpuFeatures::fp8Conversions));
  BOOST_TEST(!at(89, 83, &GpuFeatures::mmaFp8));
  BOOST_TEST(at(89, 84, &GpuFeatures::mmaFp8));
  BOOST_TEST(!at(90, 78, &GpuFeatures::tensorCopies));
  BOOST_TEST(at(90, 80, &GpuFeatures::tensorCopies));
  BOOST_TEST(!at(90, 80, &GpuFeatures::vectorAtomics));
  BOOST_TEST(at(90, 81, &GpuFeatures::vectorAtomics));
}
