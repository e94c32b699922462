// sim/cudart/MissingNames.h -- functions of the CUDA runtime that the virtual GPU lacks: X(name).
// Each one returns cudaErrorNotSupported and says its name (ForwardCalls.cpp). A function that is written moves to RuntimeApi.h.
#pragma once

// clang-format off
#define TILETWIN_RUNTIME_MISSING(X) \
  X(__cudaGetProcAddress) X(__cudaLaunchKernel_ptsz) X(__cudaRegisterHostVar) X(__cudaRegisterUnifiedTable) \
  X(cudaArrayGetMemoryRequirements) X(cudaArrayGetPlane) \
  X(cudaArrayGetSparseProperties) \
  X(cudaDestroyExternalMemory) X(cudaDestroyExternalSemaphore) \
  X(cudaDeviceFlushGPUDirectRDMAWrites) \
  X(cudaDeviceGetHostAtomicCapabilities) \
  X(cudaDeviceGetNvSciSyncAttributes) X(cudaDeviceGetP2PAtomicCapabilities) \
  X(cudaDeviceGetTexture1DLinearMaxWidth) X(cudaDeviceRegisterAsyncNotification) \
  X(cudaDeviceUnregisterAsyncNotification) \
  X(cudaEGLStreamConsumerAcquireFrame) X(cudaEGLStreamConsumerConnect) \
  X(cudaEGLStreamConsumerConnectWithFlags) X(cudaEGLStreamConsumerDisconnect) \
  X(cudaEGLStreamConsumerReleaseFrame) X(cudaEGLStreamProducerConnect) X(cudaEGLStreamProducerDisconnect) \
  X(cudaEGLStreamProducerPresentFrame) X(cudaEGLStreamProducerReturnFrame) X(cudaEventCreateFromEGLSync) \
  X(cudaEventRecordWithFlags_ptsz) X(cudaEventRecord_ptsz) X(cudaExternalMemoryGetMappedBuffer) \
  X(cudaExternalMemoryGetMappedMipmappedArray) X(cudaFreeAsync_ptsz) \
  X(cudaFuncGetParamInfo) X(cudaFuncSetSharedMemConfig) X(cudaGLGetDevices) \
  X(cudaGLMapBufferObject) X(cudaGLMapBufferObjectAsync) X(cudaGLRegisterBufferObject) \
  X(cudaGLSetBufferObjectMapFlags) X(cudaGLSetGLDevice) X(cudaGLUnmapBufferObject) \
  X(cudaGLUnmapBufferObjectAsync) X(cudaGLUnregisterBufferObject) \
  X(cudaGetDriverEntryPointByVersion_ptsz) X(cudaGetDriverEntryPoint_ptsz) X(cudaGetExportTable) \
  X(cudaGetSurfaceObjectResourceDesc) X(cudaGetTextureObjectResourceDesc) \
  X(cudaGetTextureObjectTextureDesc) \
  X(cudaGraphAddExternalSemaphoresSignalNode) \
  X(cudaGraphAddExternalSemaphoresWaitNode) \
  X(cudaGraphAddMemcpyNodeFromSymbol) X(cudaGraphAddMemcpyNodeToSymbol) \
  X(cudaGraphExecExternalSemaphoresSignalNodeSetParams) \
  X(cudaGraphExecExternalSemaphoresWaitNodeSetParams) \
  X(cudaGraphExecMemcpyNodeSetParamsFromSymbol) X(cudaGraphExecMemcpyNodeSetParamsToSymbol) \
  X(cudaGraphExecNodeSetParams) \
  X(cudaGraphExternalSemaphoresSignalNodeGetParams) X(cudaGraphExternalSemaphoresSignalNodeSetParams) \
  X(cudaGraphExternalSemaphoresWaitNodeGetParams) X(cudaGraphExternalSemaphoresWaitNodeSetParams) \
  X(cudaGraphInstantiateWithParams_ptsz) \
  X(cudaGraphLaunch_ptsz) \
  X(cudaGraphMemcpyNodeSetParamsFromSymbol) X(cudaGraphMemcpyNodeSetParamsToSymbol) \
  X(cudaGraphNodeSetParams) \
  X(cudaGraphUpload_ptsz) \
  X(cudaGraphicsEGLRegisterImage) X(cudaGraphicsGLRegisterBuffer) X(cudaGraphicsGLRegisterImage) \
  X(cudaGraphicsMapResources) X(cudaGraphicsResourceGetMappedEglFrame) \
  X(cudaGraphicsResourceGetMappedMipmappedArray) X(cudaGraphicsResourceGetMappedPointer) \
  X(cudaGraphicsResourceSetMapFlags) X(cudaGraphicsSubResourceGetMappedArray) X(cudaGraphicsUnmapResources) \
  X(cudaGraphicsUnregisterResource) X(cudaGraphicsVDPAURegisterOutputSurface) \
  X(cudaGraphicsVDPAURegisterVideoSurface) X(cudaImportExternalMemory) X(cudaImportExternalSemaphore) \
  X(cudaKernelSetAttributeForDevice) X(cudaLaunchCooperativeKernel_ptsz) \
  X(cudaLaunchHostFunc_ptsz) X(cudaLaunchKernelExC_ptsz) X(cudaLaunchKernel_ptsz) \
  X(cudaLibraryEnumerateKernels) X(cudaLibraryGetGlobal) X(cudaLibraryGetKernel) \
  X(cudaLibraryGetKernelCount) X(cudaLibraryGetManaged) X(cudaLibraryGetUnifiedFunction) \
  X(cudaLibraryLoadData) X(cudaLibraryLoadFromFile) X(cudaLibraryUnload) X(cudaLogsCurrent) \
  X(cudaLogsDumpToFile) X(cudaLogsDumpToMemory) X(cudaLogsRegisterCallback) X(cudaLogsUnregisterCallback) \
  X(cudaMallocAsync_ptsz) X(cudaMallocFromPoolAsync_ptsz) \
  X(cudaMemDiscardAndPrefetchBatchAsync) \
  X(cudaMemDiscardAndPrefetchBatchAsync_ptsz) X(cudaMemDiscardBatchAsync) X(cudaMemDiscardBatchAsync_ptsz) \
  X(cudaMemGetDefaultMemPool) X(cudaMemGetMemPool) \
  X(cudaMemPrefetchAsync_ptsz) X(cudaMemPrefetchBatchAsync) X(cudaMemPrefetchBatchAsync_ptsz) \
  X(cudaMemRangeGetAttribute) X(cudaMemRangeGetAttributes) X(cudaMemSetMemPool) \
  X(cudaMemcpy2DArrayToArray_ptds) X(cudaMemcpy2DAsync_ptsz) \
  X(cudaMemcpy2DFromArrayAsync_ptsz) X(cudaMemcpy2DFromArray_ptds) \
  X(cudaMemcpy2DToArrayAsync_ptsz) \
  X(cudaMemcpy2DToArray_ptds) X(cudaMemcpy2D_ptds) X(cudaMemcpy3DAsync_ptsz) X(cudaMemcpy3DBatchAsync) \
  X(cudaMemcpy3DBatchAsync_ptsz) X(cudaMemcpy3DPeer) X(cudaMemcpy3DPeerAsync) X(cudaMemcpy3DPeerAsync_ptsz) \
  X(cudaMemcpy3DPeer_ptds) X(cudaMemcpy3D_ptds) X(cudaMemcpyArrayToArray) X(cudaMemcpyArrayToArray_ptds) \
  X(cudaMemcpyAsync_ptsz) X(cudaMemcpyBatchAsync) X(cudaMemcpyBatchAsync_ptsz) \
  X(cudaMemcpyFromArrayAsync_ptsz) X(cudaMemcpyFromArray_ptds) \
  X(cudaMemcpyFromSymbolAsync_ptsz) X(cudaMemcpyFromSymbol_ptds) \
  X(cudaMemcpyToArrayAsync_ptsz) X(cudaMemcpyToArray_ptds) \
  X(cudaMemcpyToSymbolAsync_ptsz) X(cudaMemcpyToSymbol_ptds) X(cudaMemcpy_ptds) X(cudaMemset2DAsync_ptsz) \
  X(cudaMemset2D_ptds) X(cudaMemset3DAsync_ptsz) X(cudaMemset3D_ptds) X(cudaMemsetAsync_ptsz) \
  X(cudaMemset_ptds) X(cudaMipmappedArrayGetMemoryRequirements) X(cudaMipmappedArrayGetSparseProperties) \
  X(cudaSetValidDevices) X(cudaSignalExternalSemaphoresAsync) X(cudaSignalExternalSemaphoresAsync_ptsz) \
  X(cudaStreamAddCallback_ptsz) X(cudaStreamAttachMemAsync_ptsz) \
  X(cudaStreamBeginCaptureToGraph_ptsz) X(cudaStreamBeginCapture_ptsz) X(cudaStreamCopyAttributes) \
  X(cudaStreamCopyAttributes_ptsz) X(cudaStreamEndCapture_ptsz) X(cudaStreamGetAttribute) \
  X(cudaStreamGetAttribute_ptsz) X(cudaStreamGetCaptureInfo_ptsz) \
  X(cudaStreamGetDevice_ptsz) X(cudaStreamGetFlags_ptsz) X(cudaStreamGetId_ptsz) \
  X(cudaStreamGetPriority_ptsz) X(cudaStreamIsCapturing_ptsz) X(cudaStreamQuery_ptsz) \
  X(cudaStreamSetAttribute) X(cudaStreamSetAttribute_ptsz) X(cudaStreamSynchronize_ptsz) \
  X(cudaStreamUpdateCaptureDependencies_ptsz) \
  X(cudaStreamWaitEvent_ptsz) \
  X(cudaVDPAUGetDevice) X(cudaVDPAUSetVDPAUDevice) X(cudaWaitExternalSemaphoresAsync) \
  X(cudaWaitExternalSemaphoresAsync_ptsz)
// clang-format on
