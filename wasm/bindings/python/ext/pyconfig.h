/* In place of the header of the Python that builds the wheels: what Python.h needs to know of
   every platform for which there is one. All have pointers of 64 bits. */
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define HAVE_SSIZE_T 1
#ifdef _WIN32
#define MS_WINDOWS 1
#define MS_WIN64 1
#define Py_ENABLE_SHARED 1
#define HAVE_DECLSPEC_DLL 1
#define SIZEOF_LONG 4
#define SIZEOF_WCHAR_T 2
#else
#define SIZEOF_LONG 8
#define SIZEOF_WCHAR_T 4
#define HAVE_PTHREAD_H 1
#endif
