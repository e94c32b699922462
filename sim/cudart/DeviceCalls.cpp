// sim/cudart/DeviceCalls.cpp -- the runtime's functions on devices.
#include "sim/cudart/Runtime.h"
#include "sim/driver/Api.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::cudart {
namespace {

constexpr int kVersion = 13000; ///< of the interface that this library has

/// Reads a device's attributes by the driver's numbers.
class Attributes {
public:
  explicit Attributes(DeviceHandle device) : device_(device) {}
  int operator()(int number) const {
    int value = 0;
    (void)cuDeviceGetAttribute(&value, number, device_);
    return value;
  }

private:
  DeviceHandle device_;
};

void fill(DeviceProperties& p, DeviceHandle device) {
  const Attributes of(device);
  (void)cuDeviceGetName(p.name.data(), int(p.name.size()), device);
  (void)cuDeviceGetUuid_v2(&p.uuid, device);
  (void)cuDeviceTotalMem_v2(&p.totalGlobalMem, device);
  p.maxThreadsPerBlock = of(1);
  p.maxThreadsDim = {of(2), of(3), of(4)};
  p.maxGridSize = {of(5), of(6), of(7)};
  p.sharedMemPerBlock = size_t(of(8));
  p.totalConstMem = size_t(of(9));
  p.warpSize = of(10);
  p.memPitch = size_t(of(11));
  p.regsPerBlock = of(12);
  p.textureAlignment = size_t(of(14));
  p.multiProcessorCount = of(16);
  p.integrated = of(18);
  p.canMapHostMemory = of(19);
  constexpr std::array kTextures{21, 77, 22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43,
                                 27, 28, 29, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68};
  std::ranges::transform(kTextures, p.textures.begin(), [&](int number) { return of(number); });
  p.surfaceAlignment = size_t(of(30));
  p.concurrentKernels = of(31);
  p.eccEnabled = of(32);
  p.pciBusId = of(33);
  p.pciDeviceId = of(34);
  p.tccDriver = of(35);
  p.memoryBusWidth = of(37);
  p.l2CacheSize = of(38);
  p.maxThreadsPerMultiProcessor = of(39);
  p.asyncEngineCount = of(40);
  p.unifiedAddressing = of(41);
  p.pciDomainId = of(50);
  p.texturePitchAlignment = size_t(of(51));
  p.major = of(75);
  p.minor = of(76);
  p.streamPrioritiesSupported = of(78);
  p.globalL1CacheSupported = of(79);
  p.localL1CacheSupported = of(80);
  p.sharedMemPerMultiprocessor = size_t(of(81));
  p.regsPerMultiprocessor = of(82);
  p.managedMemory = of(83);
  p.isMultiGpuBoard = of(84);
  p.multiGpuBoardGroupId = of(85);
  p.hostNativeAtomicSupported = of(86);
  p.pageableMemoryAccess = of(88);
  p.concurrentManagedAccess = of(89);
  p.computePreemptionSupported = of(90);
  p.canUseHostPointerForRegisteredMem = of(91);
  p.cooperativeLaunch = of(95);
  p.sharedMemPerBlockOptin = size_t(of(97));
  p.hostRegisterSupported = of(99);
  p.pageableMemoryAccessUsesHostPageTables = of(100);
  p.directManagedMemAccessFromHost = of(101);
  p.maxBlocksPerMultiProcessor = of(106);
  p.persistingL2CacheMaxSize = of(108);
  p.accessPolicyMaxWindowSize = of(109);
  p.reservedSharedMemPerBlock = size_t(of(111));
  p.memoryPoolsSupported = of(115);
  p.memoryPoolSupportedHandleTypes = unsigned(of(119));
  p.clusterLaunch = of(120);
  p.gpuPciDeviceId = unsigned(of(139));
  p.gpuPciSubsystemId = unsigned(of(140));
}

/// body(the primary context of a peer device), with the thread's device current.
template <class Body> Error onPeer(int peer, const Body& body) noexcept {
  return inRuntime([&]() -> Error {
    ContextHandle context = nullptr;
    if (const Result result = cuDevicePrimaryCtxRetain(&context, peer)) return result; // as long as the process
    return body(context);
  });
}

} // namespace

extern "C" {

Error cudaGetDeviceCount(int* count) {
  if (!count) return record(cuda::kInvalidValue);
  if (const Result result = cuInit(0)) return record(result);
  if (const Result result = cuDeviceGetCount(count)) return record(result);
  return record(*count ? cuda::kSuccess : cuda::kNoDevice);
}

Error cudaGetDevice(int* device) {
  if (!device) return record(cuda::kInvalidValue);
  *device = currentDevice();
  return cuda::kSuccess;
}

Error cudaSetDevice(int device) { return record(selectDevice(device)); }
Error cudaInitDevice(int device, unsigned deviceFlags, unsigned flags) { return record(selectDevice(device)); }

Error cudaSetDeviceFlags(unsigned flags) {
  return inRuntime([&] { return cuDevicePrimaryCtxSetFlags_v2(currentDevice(), flags); });
}

Error cudaGetDeviceFlags(unsigned* flags) {
  return inRuntime([&] { return cuCtxGetFlags(flags); });
}

Error cudaDeviceReset() { return record(resetDevice()); }

Error cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return onPeer(peer, [&](ContextHandle context) { return cuCtxEnablePeerAccess(context, flags); });
}

Error cudaDeviceDisablePeerAccess(int peer) {
  return onPeer(peer, [](ContextHandle context) { return cuCtxDisablePeerAccess(context); });
}

Error cudaGetDeviceProperties(DeviceProperties* properties, int device) {
  int count = 0;
  if (const Error error = cudaGetDeviceCount(&count)) return error;
  if (!properties) return record(cuda::kInvalidValue);
  if (device < 0 || device >= count) return record(cuda::kInvalidDevice);
  *properties = {};
  fill(*properties, device);
  return cuda::kSuccess;
}

// All devices are alike.
Error cudaChooseDevice(int* device, const DeviceProperties* properties) {
  if (!device || !properties) return record(cuda::kInvalidValue);
  *device = 0;
  return cuda::kSuccess;
}

Error cudaDriverGetVersion(int* version) { return record(cuDriverGetVersion(version)); }

Error cudaRuntimeGetVersion(int* version) {
  if (!version) return record(cuda::kInvalidValue);
  *version = kVersion;
  return cuda::kSuccess;
}

Error cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, int* status) {
  return cudaGetDriverEntryPointByVersion(name, function, kVersion, flags, status);
}

Error cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version, unsigned long long flags,
                                       int* status) {
  return inRuntime([&]() -> Error {
    int found = 0;
    const Result result = cuGetProcAddress_v2(name, function, int(version), flags, &found);
    if (status) *status = found;
    return result == cuda::kNotFound ? cuda::kSuccess : result; // the status says it
  });
}

} // extern "C"
} // namespace tiletwin::cudart
