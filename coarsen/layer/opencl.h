/* What the layers use of OpenCL: types, constants and functions, each with its place in the loader's table.
 *
 * No header of OpenCL is needed to compile them. With WITH_OPENCL_HEADERS Khronos' headers declare all but the places: a
 * test compiles the layers that way, so that what is declared here is what they declare.
 */
#define _GNU_SOURCE
#include <stddef.h>
#define PLACE(place, name) enum { PLACE_##name = place };
#ifdef WITH_OPENCL_HEADERS
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>
#define ENTRY(place, result, name, ...) PLACE(place, name)
#else
#define ENTRY(place, result, name, ...) PLACE(place, name) result name(__VA_ARGS__);

#define CL_CALLBACK
typedef int cl_int;
typedef unsigned int cl_uint;
typedef unsigned long cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield, cl_properties;
typedef cl_bitfield cl_device_type, cl_command_queue_properties, cl_mem_flags, cl_svm_mem_flags, cl_map_flags;
typedef cl_properties cl_context_properties, cl_queue_properties, cl_mem_properties, cl_sampler_properties;
typedef cl_uint cl_platform_info, cl_device_info, cl_command_queue_info, cl_mem_info, cl_image_info, cl_sampler_info;
typedef cl_uint cl_context_info, cl_program_info, cl_kernel_info, cl_kernel_exec_info, cl_event_info, cl_profiling_info;
typedef cl_uint cl_buffer_create_type, cl_addressing_mode, cl_filter_mode, cl_mem_object_type;
typedef cl_uint cl_layer_info;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;
typedef struct _cl_sampler *cl_sampler;
/* Only handed on. */
typedef struct _cl_image_format cl_image_format;
typedef struct _cl_image_desc cl_image_desc;
typedef struct _cl_icd_dispatch cl_icd_dispatch;

enum {
    CL_SUCCESS = 0, CL_COMPLETE = 0, CL_TRUE = 1, CL_PROFILING_INFO_NOT_AVAILABLE = (-7),
    CL_INVALID_VALUE = (-30), CL_PLATFORM_VERSION = 0x0901, CL_PLATFORM_NAME = 0x0902, CL_DEVICE_NAME = 0x102B,
    CL_DRIVER_VERSION = 0x102D, CL_DEVICE_PLATFORM = 0x1031, CL_CONTEXT_PROPERTIES = 0x1082,
    CL_CONTEXT_PLATFORM = 0x1084, CL_QUEUE_CONTEXT = 0x1090, CL_QUEUE_DEVICE = 0x1091, CL_QUEUE_PROPERTIES = 0x1093,
    CL_QUEUE_PROPERTIES_ARRAY = 0x1098, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE = (1 << 0),
    CL_QUEUE_PROFILING_ENABLE = (1 << 1), CL_QUEUE_ON_DEVICE = (1 << 2),
    CL_MEM_USE_HOST_PTR = (1 << 3), CL_MEM_HOST_WRITE_ONLY = (1 << 7), CL_MEM_HOST_NO_ACCESS = (1 << 9),
    CL_MEM_OBJECT_BUFFER = 0x10F0, CL_MEM_TYPE = 0x1100, CL_MEM_FLAGS = 0x1101, CL_MEM_SIZE = 0x1102,
    CL_MEM_ASSOCIATED_MEMOBJECT = 0x1107, CL_MEM_OFFSET = 0x1108, CL_MEM_PROPERTIES = 0x110A,
    CL_IMAGE_FORMAT = 0x1110, CL_IMAGE_ELEMENT_SIZE = 0x1111, CL_IMAGE_WIDTH = 0x1114, CL_IMAGE_HEIGHT = 0x1115,
    CL_IMAGE_DEPTH = 0x1116, CL_IMAGE_ARRAY_SIZE = 0x1117, CL_SAMPLER_NORMALIZED_COORDS = 0x1152,
    CL_SAMPLER_ADDRESSING_MODE = 0x1153, CL_SAMPLER_FILTER_MODE = 0x1154, CL_PROGRAM_CONTEXT = 0x1161,
    CL_PROGRAM_NUM_DEVICES = 0x1162, CL_PROGRAM_DEVICES = 0x1163, CL_KERNEL_FUNCTION_NAME = 0x1190,
    CL_KERNEL_NUM_ARGS = 0x1191,
    CL_KERNEL_EXEC_INFO_SVM_PTRS = 0x11B6, CL_EVENT_COMMAND_QUEUE = 0x11D0,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3, CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283, CL_LAYER_API_VERSION = 0x4240, CL_LAYER_NAME = 0x4241,
    CL_LAYER_API_VERSION_100 = 100,
};
#endif
enum { CL_LAYER_API_VERSION_200 = 200 }; /* not in the headers of 1.0 */

/* Asked. */
ENTRY(1, cl_int, clGetPlatformInfo, cl_platform_id, cl_platform_info, size_t, void *, size_t *)
ENTRY(3, cl_int, clGetDeviceInfo, cl_device_id, cl_device_info, size_t, void *, size_t *)
ENTRY(8, cl_int, clGetContextInfo, cl_context, cl_context_info, size_t, void *, size_t *)
ENTRY(32, cl_int, clGetProgramInfo, cl_program, cl_program_info, size_t, void *, size_t *)
ENTRY(21, cl_int, clGetImageInfo, cl_mem, cl_image_info, size_t, void *, size_t *)
ENTRY(25, cl_int, clGetSamplerInfo, cl_sampler, cl_sampler_info, size_t, void *, size_t *)
ENTRY(39, cl_int, clGetKernelInfo, cl_kernel, cl_kernel_info, size_t, void *, size_t *)
ENTRY(42, cl_int, clGetEventInfo, cl_event, cl_event_info, size_t, void *, size_t *)
ENTRY(43, cl_int, clRetainEvent, cl_event)
ENTRY(44, cl_int, clReleaseEvent, cl_event)
ENTRY(46, cl_int, clFlush, cl_command_queue)
ENTRY(83, cl_int, clSetMemObjectDestructorCallback, cl_mem, void(CL_CALLBACK *)(cl_mem, void *), void *)
ENTRY(51, cl_int, clEnqueueReadImage, cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, size_t, size_t,
      void *, cl_uint, const cl_event *, cl_event *)
ENTRY(105, cl_int, clEnqueueMarkerWithWaitList, cl_command_queue, cl_uint, const cl_event *, cl_event *)
ENTRY(129, cl_int, clEnqueueSVMMemcpy, cl_command_queue, cl_bool, void *, const void *, size_t, cl_uint, const cl_event *,
      cl_event *)
ENTRY(12, cl_int, clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info, size_t, void *, size_t *)
ENTRY(18, cl_int, clReleaseMemObject, cl_mem)
ENTRY(20, cl_int, clGetMemObjectInfo, cl_mem, cl_mem_info, size_t, void *, size_t *)
ENTRY(38, cl_int, clSetKernelArg, cl_kernel, cl_uint, size_t, const void *)
ENTRY(59, cl_int, clEnqueueNDRangeKernel, cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
      const size_t *, cl_uint, const cl_event *, cl_event *)
/* Replaced: a layer defines them. */
PLACE(9, clCreateCommandQueue) PLACE(123, clCreateCommandQueueWithProperties) PLACE(11, clReleaseCommandQueue)
PLACE(81, clSetEventCallback) PLACE(84, clCreateUserEvent) PLACE(45, clGetEventProfilingInfo)
PLACE(41, clWaitForEvents) PLACE(47, clFinish) PLACE(48, clEnqueueReadBuffer) PLACE(86, clEnqueueReadBufferRect)
PLACE(49, clEnqueueWriteBuffer) PLACE(87, clEnqueueWriteBufferRect) PLACE(102, clEnqueueFillBuffer)
PLACE(50, clEnqueueCopyBuffer) PLACE(88, clEnqueueCopyBufferRect) PLACE(55, clEnqueueCopyBufferToImage)
PLACE(54, clEnqueueCopyImageToBuffer) PLACE(56, clEnqueueMapBuffer) PLACE(58, clEnqueueUnmapMemObject)
PLACE(52, clEnqueueWriteImage) PLACE(53, clEnqueueCopyImage) PLACE(57, clEnqueueMapImage)
PLACE(103, clEnqueueFillImage)
PLACE(14, clCreateBuffer) PLACE(146, clCreateBufferWithProperties) PLACE(82, clCreateSubBuffer)
PLACE(15, clCreateImage2D) PLACE(16, clCreateImage3D) PLACE(96, clCreateImage) PLACE(147, clCreateImageWithProperties)
PLACE(126, clSVMAlloc) PLACE(127, clSVMFree) PLACE(22, clCreateSampler) PLACE(133, clCreateSamplerWithProperties)
PLACE(4, clCreateContext) PLACE(5, clCreateContextFromType) PLACE(6, clRetainContext) PLACE(7, clReleaseContext)
PLACE(26, clCreateProgramWithSource) PLACE(27, clCreateProgramWithBinary) PLACE(28, clRetainProgram)
PLACE(29, clReleaseProgram) PLACE(30, clBuildProgram) PLACE(98, clCompileProgram) PLACE(99, clLinkProgram)
PLACE(34, clCreateKernel) PLACE(35, clCreateKernelsInProgram) PLACE(137, clCloneKernel) PLACE(36, clRetainKernel)
PLACE(37, clReleaseKernel) PLACE(134, clSetKernelArgSVMPointer) PLACE(135, clSetKernelExecInfo)
PLACE(60, clEnqueueTask) PLACE(65, clGetExtensionFunctionAddress) PLACE(107, clGetExtensionFunctionAddressForPlatform)
