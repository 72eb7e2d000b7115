/* What the layers use of OpenCL: types, constants and functions, each with its place in the loader's table.
 *
 * No header of a system is needed to compile them. With WITH_OPENCL_HEADERS Khronos' headers declare all but the places:
 * a test compiles the layers that way, so that what is declared here is what they declare.
 */
#ifdef WITH_OPENCL_HEADERS
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>
#define ENTRY(place, result, name, ...) enum { PLACE_##name = place };
#else
#define ENTRY(place, result, name, ...)                                                                              \
    enum { PLACE_##name = place };                                                                                   \
    result name(__VA_ARGS__);

#define CL_CALLBACK
typedef __SIZE_TYPE__ size_t;
typedef int cl_int;
typedef unsigned int cl_uint;
typedef unsigned long cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield, cl_properties;
typedef cl_bitfield cl_device_type, cl_command_queue_properties, cl_mem_flags, cl_svm_mem_flags, cl_map_flags;
typedef cl_properties cl_context_properties, cl_queue_properties, cl_mem_properties, cl_sampler_properties;
typedef cl_uint cl_platform_info, cl_device_info, cl_command_queue_info, cl_mem_info, cl_image_info, cl_sampler_info;
typedef cl_uint cl_context_info, cl_program_info, cl_kernel_info, cl_kernel_exec_info, cl_event_info, cl_profiling_info;
typedef cl_uint cl_buffer_create_type, cl_addressing_mode, cl_filter_mode, cl_channel_order, cl_channel_type, cl_mem_object_type;
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
typedef struct _cl_image_desc cl_image_desc;
typedef struct _cl_icd_dispatch cl_icd_dispatch;
typedef struct {
    cl_channel_order image_channel_order;
    cl_channel_type image_channel_data_type;
} cl_image_format;
typedef struct {
    size_t origin, size;
} cl_buffer_region;

enum {
    CL_SUCCESS = 0, CL_COMPLETE = 0, CL_TRUE = 1, CL_PROFILING_INFO_NOT_AVAILABLE = (-7),
    CL_INVALID_VALUE = (-30), CL_PLATFORM_VERSION = 0x0901, CL_PLATFORM_NAME = 0x0902, CL_DEVICE_NAME = 0x102B,
    CL_DRIVER_VERSION = 0x102D, CL_DEVICE_PLATFORM = 0x1031, CL_CONTEXT_PROPERTIES = 0x1082,
    CL_CONTEXT_PLATFORM = 0x1084, CL_QUEUE_DEVICE = 0x1091, CL_QUEUE_PROPERTIES = 0x1093,
    CL_QUEUE_PROPERTIES_ARRAY = 0x1098,
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE = (1 << 0), CL_QUEUE_PROFILING_ENABLE = (1 << 1), CL_QUEUE_ON_DEVICE = (1 << 2),
    CL_MEM_HOST_WRITE_ONLY = (1 << 7), CL_MEM_HOST_READ_ONLY = (1 << 8), CL_MEM_HOST_NO_ACCESS = (1 << 9),
    CL_MEM_USE_HOST_PTR = (1 << 3), CL_MEM_OBJECT_BUFFER = 0x10F0, CL_MEM_TYPE = 0x1100, CL_MEM_FLAGS = 0x1101,
    CL_MEM_SIZE = 0x1102, CL_MEM_ASSOCIATED_MEMOBJECT = 0x1107, CL_MEM_PROPERTIES = 0x110A,
    CL_IMAGE_FORMAT = 0x1110, CL_IMAGE_ELEMENT_SIZE = 0x1111, CL_IMAGE_WIDTH = 0x1114, CL_IMAGE_HEIGHT = 0x1115,
    CL_IMAGE_DEPTH = 0x1116, CL_IMAGE_ARRAY_SIZE = 0x1117, CL_SAMPLER_NORMALIZED_COORDS = 0x1152,
    CL_SAMPLER_ADDRESSING_MODE = 0x1153, CL_SAMPLER_FILTER_MODE = 0x1154, CL_PROGRAM_CONTEXT = 0x1161,
    CL_PROGRAM_NUM_DEVICES = 0x1162, CL_PROGRAM_DEVICES = 0x1163, CL_KERNEL_FUNCTION_NAME = 0x1190,
    CL_KERNEL_NUM_ARGS = 0x1191,
    CL_KERNEL_EXEC_INFO_SVM_PTRS = 0x11B6, CL_EVENT_COMMAND_QUEUE = 0x11D0,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3, CL_BUFFER_CREATE_TYPE_REGION = 0x1220,
    CL_PROFILING_COMMAND_START = 0x1282, CL_PROFILING_COMMAND_END = 0x1283, CL_LAYER_API_VERSION = 0x4240,
    CL_LAYER_NAME = 0x4241, CL_LAYER_API_VERSION_100 = 100,
};
#endif
enum { CL_LAYER_API_VERSION_200 = 200 }; /* not in the headers of 1.0 */

/* Asked, never replaced. */
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
ENTRY(105, cl_int, clEnqueueMarkerWithWaitList, cl_command_queue, cl_uint, const cl_event *, cl_event *)
ENTRY(129, cl_int, clEnqueueSVMMemcpy, cl_command_queue, cl_bool, void *, const void *, size_t, cl_uint, const cl_event *,
      cl_event *)
ENTRY(51, cl_int, clEnqueueReadImage, cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, size_t, size_t,
      void *, cl_uint, const cl_event *, cl_event *)
/* Replaced: queues, events and what waits for them. */
ENTRY(9, cl_command_queue, clCreateCommandQueue, cl_context, cl_device_id, cl_command_queue_properties, cl_int *)
ENTRY(123, cl_command_queue, clCreateCommandQueueWithProperties, cl_context, cl_device_id, const cl_queue_properties *,
      cl_int *)
ENTRY(11, cl_int, clReleaseCommandQueue, cl_command_queue)
ENTRY(12, cl_int, clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info, size_t, void *, size_t *)
ENTRY(81, cl_int, clSetEventCallback, cl_event, cl_int, void(CL_CALLBACK *)(cl_event, cl_int, void *), void *)
ENTRY(84, cl_event, clCreateUserEvent, cl_context, cl_int *)
ENTRY(45, cl_int, clGetEventProfilingInfo, cl_event, cl_profiling_info, size_t, void *, size_t *)
ENTRY(41, cl_int, clWaitForEvents, cl_uint, const cl_event *)
ENTRY(47, cl_int, clFinish, cl_command_queue)
ENTRY(48, cl_int, clEnqueueReadBuffer, cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *,
      cl_event *)
ENTRY(86, cl_int, clEnqueueReadBufferRect, cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *,
      const size_t *, size_t, size_t, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *)
ENTRY(49, cl_int, clEnqueueWriteBuffer, cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint,
      const cl_event *, cl_event *)
ENTRY(87, cl_int, clEnqueueWriteBufferRect, cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *,
      const size_t *, size_t, size_t, size_t, size_t, const void *, cl_uint, const cl_event *, cl_event *)
ENTRY(102, cl_int, clEnqueueFillBuffer, cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint,
      const cl_event *, cl_event *)
ENTRY(50, cl_int, clEnqueueCopyBuffer, cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint,
      const cl_event *, cl_event *)
ENTRY(88, cl_int, clEnqueueCopyBufferRect, cl_command_queue, cl_mem, cl_mem, const size_t *, const size_t *,
      const size_t *, size_t, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *)
ENTRY(55, cl_int, clEnqueueCopyBufferToImage, cl_command_queue, cl_mem, cl_mem, size_t, const size_t *, const size_t *,
      cl_uint, const cl_event *, cl_event *)
ENTRY(54, cl_int, clEnqueueCopyImageToBuffer, cl_command_queue, cl_mem, cl_mem, const size_t *, const size_t *, size_t,
      cl_uint, const cl_event *, cl_event *)
ENTRY(56, void *, clEnqueueMapBuffer, cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint,
      const cl_event *, cl_event *, cl_int *)
ENTRY(58, cl_int, clEnqueueUnmapMemObject, cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *)
/* Replaced: memory and samplers. */
ENTRY(14, cl_mem, clCreateBuffer, cl_context, cl_mem_flags, size_t, void *, cl_int *)
ENTRY(146, cl_mem, clCreateBufferWithProperties, cl_context, const cl_mem_properties *, cl_mem_flags, size_t, void *,
      cl_int *)
ENTRY(82, cl_mem, clCreateSubBuffer, cl_mem, cl_mem_flags, cl_buffer_create_type, const void *, cl_int *)
ENTRY(15, cl_mem, clCreateImage2D, cl_context, cl_mem_flags, const cl_image_format *, size_t, size_t, size_t, void *,
      cl_int *)
ENTRY(16, cl_mem, clCreateImage3D, cl_context, cl_mem_flags, const cl_image_format *, size_t, size_t, size_t, size_t,
      size_t, void *, cl_int *)
ENTRY(96, cl_mem, clCreateImage, cl_context, cl_mem_flags, const cl_image_format *, const cl_image_desc *, void *, cl_int *)
ENTRY(147, cl_mem, clCreateImageWithProperties, cl_context, const cl_mem_properties *, cl_mem_flags,
      const cl_image_format *, const cl_image_desc *, void *, cl_int *)
ENTRY(18, cl_int, clReleaseMemObject, cl_mem)
ENTRY(20, cl_int, clGetMemObjectInfo, cl_mem, cl_mem_info, size_t, void *, size_t *)
ENTRY(126, void *, clSVMAlloc, cl_context, cl_svm_mem_flags, size_t, cl_uint)
ENTRY(127, void, clSVMFree, cl_context, void *)
ENTRY(22, cl_sampler, clCreateSampler, cl_context, cl_bool, cl_addressing_mode, cl_filter_mode, cl_int *)
ENTRY(133, cl_sampler, clCreateSamplerWithProperties, cl_context, const cl_sampler_properties *, cl_int *)
/* Replaced: contexts. */
ENTRY(4, cl_context, clCreateContext, const cl_context_properties *, cl_uint, const cl_device_id *,
      void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *)
ENTRY(5, cl_context, clCreateContextFromType, const cl_context_properties *, cl_device_type,
      void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *)
ENTRY(6, cl_int, clRetainContext, cl_context)
ENTRY(7, cl_int, clReleaseContext, cl_context)
/* Replaced: programs, kernels and their launches. */
ENTRY(26, cl_program, clCreateProgramWithSource, cl_context, cl_uint, const char **, const size_t *, cl_int *)
ENTRY(27, cl_program, clCreateProgramWithBinary, cl_context, cl_uint, const cl_device_id *, const size_t *,
      const unsigned char **, cl_int *, cl_int *)
ENTRY(138, cl_program, clCreateProgramWithIL, cl_context, const void *, size_t, cl_int *)
ENTRY(97, cl_program, clCreateProgramWithBuiltInKernels, cl_context, cl_uint, const cl_device_id *, const char *, cl_int *)
ENTRY(28, cl_int, clRetainProgram, cl_program)
ENTRY(29, cl_int, clReleaseProgram, cl_program)
ENTRY(30, cl_int, clBuildProgram, cl_program, cl_uint, const cl_device_id *, const char *,
      void(CL_CALLBACK *)(cl_program, void *), void *)
ENTRY(98, cl_int, clCompileProgram, cl_program, cl_uint, const cl_device_id *, const char *, cl_uint, const cl_program *,
      const char **, void(CL_CALLBACK *)(cl_program, void *), void *)
ENTRY(99, cl_program, clLinkProgram, cl_context, cl_uint, const cl_device_id *, const char *, cl_uint, const cl_program *,
      void(CL_CALLBACK *)(cl_program, void *), void *, cl_int *)
ENTRY(34, cl_kernel, clCreateKernel, cl_program, const char *, cl_int *)
ENTRY(35, cl_int, clCreateKernelsInProgram, cl_program, cl_uint, cl_kernel *, cl_uint *)
ENTRY(137, cl_kernel, clCloneKernel, cl_kernel, cl_int *)
ENTRY(36, cl_int, clRetainKernel, cl_kernel)
ENTRY(37, cl_int, clReleaseKernel, cl_kernel)
ENTRY(38, cl_int, clSetKernelArg, cl_kernel, cl_uint, size_t, const void *)
ENTRY(134, cl_int, clSetKernelArgSVMPointer, cl_kernel, cl_uint, const void *)
ENTRY(135, cl_int, clSetKernelExecInfo, cl_kernel, cl_kernel_exec_info, size_t, const void *)
ENTRY(59, cl_int, clEnqueueNDRangeKernel, cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
      const size_t *, cl_uint, const cl_event *, cl_event *)
ENTRY(60, cl_int, clEnqueueTask, cl_command_queue, cl_kernel, cl_uint, const cl_event *, cl_event *)
ENTRY(65, void *, clGetExtensionFunctionAddress, const char *)
ENTRY(107, void *, clGetExtensionFunctionAddressForPlatform, cl_platform_id, const char *)
