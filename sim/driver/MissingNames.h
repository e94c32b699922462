// sim/driver/MissingNames.h -- functions of the CUDA driver that the virtual GPU lacks: X(name, symbol).
// Each one returns CUDA_ERROR_NOT_SUPPORTED and says its name (Functions.cpp). A function that is written moves to Api.h,
// MemoryApi.h or GraphApi.h; the compiler refuses one that stands in both.
#pragma once

// clang-format off
#define TILETWIN_GPU_MISSING_FUNCTIONS(X)                                                                              \
  X(cuArrayGetMemoryRequirements, cuArrayGetMemoryRequirements) X(cuArrayGetPlane, cuArrayGetPlane)                    \
  X(cuArrayGetSparseProperties, cuArrayGetSparseProperties)                                                            \
  X(cuCheckpointProcessCheckpoint, cuCheckpointProcessCheckpoint)                                                      \
  X(cuCheckpointProcessGetRestoreThreadId, cuCheckpointProcessGetRestoreThreadId)                                      \
  X(cuCheckpointProcessGetState, cuCheckpointProcessGetState) X(cuCheckpointProcessLock, cuCheckpointProcessLock)      \
  X(cuCheckpointProcessRestore, cuCheckpointProcessRestore) X(cuCheckpointProcessUnlock, cuCheckpointProcessUnlock)    \
  X(cuCoredumpGetAttribute, cuCoredumpGetAttribute) X(cuCoredumpGetAttributeGlobal, cuCoredumpGetAttributeGlobal)      \
  X(cuCoredumpSetAttribute, cuCoredumpSetAttribute) X(cuCoredumpSetAttributeGlobal, cuCoredumpSetAttributeGlobal)      \
  X(cuCtxFromGreenCtx, cuCtxFromGreenCtx)                                                                              \
  X(cuCtxGetDevResource, cuCtxGetDevResource) X(cuCtxGetExecAffinity, cuCtxGetExecAffinity)                            \
  X(cuCtxRecordEvent, cuCtxRecordEvent) X(cuCtxWaitEvent, cuCtxWaitEvent)                                              \
  X(cuDestroyExternalMemory, cuDestroyExternalMemory) X(cuDestroyExternalSemaphore, cuDestroyExternalSemaphore)        \
  X(cuDevResourceGenerateDesc, cuDevResourceGenerateDesc) X(cuDevSmResourceSplitByCount, cuDevSmResourceSplitByCount)  \
  X(cuDeviceGetDevResource, cuDeviceGetDevResource)                                                                    \
  X(cuDeviceGetHostAtomicCapabilities, cuDeviceGetHostAtomicCapabilities) X(cuDeviceGetLuid, cuDeviceGetLuid)          \
  X(cuDeviceGetNvSciSyncAttributes, cuDeviceGetNvSciSyncAttributes)                                                    \
  X(cuDeviceGetP2PAtomicCapabilities, cuDeviceGetP2PAtomicCapabilities)                                                \
  X(cuDeviceGetProperties, cuDeviceGetProperties)                                                                      \
  X(cuDeviceGetTexture1DLinearMaxWidth, cuDeviceGetTexture1DLinearMaxWidth)                                            \
  X(cuDeviceRegisterAsyncNotification, cuDeviceRegisterAsyncNotification)                                              \
  X(cuDeviceUnregisterAsyncNotification, cuDeviceUnregisterAsyncNotification)                                          \
  X(cuEGLStreamConsumerConnect, cuEGLStreamConsumerConnect)                                                            \
  X(cuExternalMemoryGetMappedBuffer, cuExternalMemoryGetMappedBuffer)                                                  \
  X(cuExternalMemoryGetMappedMipmappedArray, cuExternalMemoryGetMappedMipmappedArray)                                  \
  X(cuFlushGPUDirectRDMAWrites, cuFlushGPUDirectRDMAWrites) X(cuGLGetDevices, cuGLGetDevices)                          \
  X(cuGraphAddBatchMemOpNode, cuGraphAddBatchMemOpNode)                                                                \
  X(cuGraphAddExternalSemaphoresSignalNode, cuGraphAddExternalSemaphoresSignalNode)                                    \
  X(cuGraphAddExternalSemaphoresWaitNode, cuGraphAddExternalSemaphoresWaitNode)                                        \
  X(cuGraphBatchMemOpNodeGetParams, cuGraphBatchMemOpNodeGetParams)                                                    \
  X(cuGraphBatchMemOpNodeSetParams, cuGraphBatchMemOpNodeSetParams)                                                    \
  X(cuGraphExecBatchMemOpNodeSetParams, cuGraphExecBatchMemOpNodeSetParams)                                            \
  X(cuGraphExecExternalSemaphoresSignalNodeSetParams, cuGraphExecExternalSemaphoresSignalNodeSetParams)                \
  X(cuGraphExecExternalSemaphoresWaitNodeSetParams, cuGraphExecExternalSemaphoresWaitNodeSetParams)                    \
  X(cuGraphExternalSemaphoresSignalNodeGetParams, cuGraphExternalSemaphoresSignalNodeGetParams)                        \
  X(cuGraphExternalSemaphoresSignalNodeSetParams, cuGraphExternalSemaphoresSignalNodeSetParams)                        \
  X(cuGraphExternalSemaphoresWaitNodeGetParams, cuGraphExternalSemaphoresWaitNodeGetParams)                            \
  X(cuGraphExternalSemaphoresWaitNodeSetParams, cuGraphExternalSemaphoresWaitNodeSetParams)                            \
  X(cuGraphicsEGLRegisterImage, cuGraphicsEGLRegisterImage) X(cuGraphicsGLRegisterBuffer, cuGraphicsGLRegisterBuffer)  \
  X(cuGraphicsGLRegisterImage, cuGraphicsGLRegisterImage) X(cuGraphicsMapResources, cuGraphicsMapResources)            \
  X(cuGraphicsResourceGetMappedMipmappedArray, cuGraphicsResourceGetMappedMipmappedArray)                              \
  X(cuGraphicsResourceGetMappedPointer, cuGraphicsResourceGetMappedPointer_v2)                                         \
  X(cuGraphicsResourceSetMapFlags, cuGraphicsResourceSetMapFlags_v2)                                                   \
  X(cuGraphicsSubResourceGetMappedArray, cuGraphicsSubResourceGetMappedArray)                                          \
  X(cuGraphicsUnmapResources, cuGraphicsUnmapResources) X(cuGraphicsUnregisterResource, cuGraphicsUnregisterResource)  \
  X(cuGreenCtxCreate, cuGreenCtxCreate) X(cuGreenCtxDestroy, cuGreenCtxDestroy)                                        \
  X(cuGreenCtxGetDevResource, cuGreenCtxGetDevResource) X(cuGreenCtxGetId, cuGreenCtxGetId)                            \
  X(cuGreenCtxRecordEvent, cuGreenCtxRecordEvent) X(cuGreenCtxStreamCreate, cuGreenCtxStreamCreate)                    \
  X(cuGreenCtxWaitEvent, cuGreenCtxWaitEvent) X(cuImportExternalMemory, cuImportExternalMemory)                        \
  X(cuImportExternalSemaphore, cuImportExternalSemaphore)                                                              \
  X(cuLaunchCooperativeKernelMultiDevice, cuLaunchCooperativeKernelMultiDevice)                                        \
  X(cuLibraryGetUnifiedFunction, cuLibraryGetUnifiedFunction) X(cuLogsCurrent, cuLogsCurrent)                          \
  X(cuLogsDumpToFile, cuLogsDumpToFile) X(cuLogsDumpToMemory, cuLogsDumpToMemory)                                      \
  X(cuLogsRegisterCallback, cuLogsRegisterCallback) X(cuLogsUnregisterCallback, cuLogsUnregisterCallback)              \
  X(cuMemBatchDecompressAsync, cuMemBatchDecompressAsync)                                                              \
  X(cuMemGetHandleForAddressRange, cuMemGetHandleForAddressRange)                                                      \
  X(cuMemMapArrayAsync, cuMemMapArrayAsync)                                                                            \
  X(cuMemcpy3DBatchAsync, cuMemcpy3DBatchAsync_v2)                                                                     \
  X(cuMemcpy3DPeer, cuMemcpy3DPeer) X(cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync)                                        \
  X(cuMemcpyBatchAsync, cuMemcpyBatchAsync_v2)                                                                         \
  X(cuMipmappedArrayGetMemoryRequirements, cuMipmappedArrayGetMemoryRequirements)                                      \
  X(cuMipmappedArrayGetSparseProperties, cuMipmappedArrayGetSparseProperties)                                          \
  X(cuModuleGetSurfRef, cuModuleGetSurfRef) X(cuModuleGetTexRef, cuModuleGetTexRef)                                    \
  X(cuMulticastAddDevice, cuMulticastAddDevice) X(cuMulticastBindAddr, cuMulticastBindAddr)                            \
  X(cuMulticastBindMem, cuMulticastBindMem) X(cuMulticastCreate, cuMulticastCreate)                                    \
  X(cuMulticastGetGranularity, cuMulticastGetGranularity) X(cuMulticastUnbind, cuMulticastUnbind)                      \
  X(cuParamSetTexRef, cuParamSetTexRef) X(cuSignalExternalSemaphoresAsync, cuSignalExternalSemaphoresAsync)            \
  X(cuStreamBatchMemOp, cuStreamBatchMemOp_v2) X(cuStreamCopyAttributes, cuStreamCopyAttributes)                       \
  X(cuStreamGetAttribute, cuStreamGetAttribute) X(cuStreamGetGreenCtx, cuStreamGetGreenCtx)                            \
  X(cuStreamSetAttribute, cuStreamSetAttribute) X(cuStreamWaitValue32, cuStreamWaitValue32_v2)                         \
  X(cuStreamWaitValue64, cuStreamWaitValue64_v2) X(cuStreamWriteValue32, cuStreamWriteValue32_v2)                      \
  X(cuStreamWriteValue64, cuStreamWriteValue64_v2) X(cuSurfRefGetArray, cuSurfRefGetArray)                             \
  X(cuSurfRefSetArray, cuSurfRefSetArray)                                                                              \
  X(cuTensorMapEncodeIm2colWide, cuTensorMapEncodeIm2colWide)                                                          \
  X(cuTexRefCreate, cuTexRefCreate) X(cuTexRefDestroy, cuTexRefDestroy) X(cuTexRefGetAddress, cuTexRefGetAddress_v2)   \
  X(cuTexRefGetAddressMode, cuTexRefGetAddressMode) X(cuTexRefGetArray, cuTexRefGetArray)                              \
  X(cuTexRefGetBorderColor, cuTexRefGetBorderColor) X(cuTexRefGetFilterMode, cuTexRefGetFilterMode)                    \
  X(cuTexRefGetFlags, cuTexRefGetFlags) X(cuTexRefGetFormat, cuTexRefGetFormat)                                        \
  X(cuTexRefGetMaxAnisotropy, cuTexRefGetMaxAnisotropy) X(cuTexRefGetMipmapFilterMode, cuTexRefGetMipmapFilterMode)    \
  X(cuTexRefGetMipmapLevelBias, cuTexRefGetMipmapLevelBias)                                                            \
  X(cuTexRefGetMipmapLevelClamp, cuTexRefGetMipmapLevelClamp) X(cuTexRefGetMipmappedArray, cuTexRefGetMipmappedArray)  \
  X(cuTexRefSetAddress, cuTexRefSetAddress_v2) X(cuTexRefSetAddress2D, cuTexRefSetAddress2D_v3)                        \
  X(cuTexRefSetAddressMode, cuTexRefSetAddressMode) X(cuTexRefSetArray, cuTexRefSetArray)                              \
  X(cuTexRefSetBorderColor, cuTexRefSetBorderColor) X(cuTexRefSetFilterMode, cuTexRefSetFilterMode)                    \
  X(cuTexRefSetFlags, cuTexRefSetFlags) X(cuTexRefSetFormat, cuTexRefSetFormat)                                        \
  X(cuTexRefSetMaxAnisotropy, cuTexRefSetMaxAnisotropy) X(cuTexRefSetMipmapFilterMode, cuTexRefSetMipmapFilterMode)    \
  X(cuTexRefSetMipmapLevelBias, cuTexRefSetMipmapLevelBias)                                                            \
  X(cuTexRefSetMipmapLevelClamp, cuTexRefSetMipmapLevelClamp) X(cuTexRefSetMipmappedArray, cuTexRefSetMipmappedArray)  \
  X(cuWaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync)
// clang-format on
