/* The frame of every public header: C linkage for C++, and default visibility, since everything
 * else in the library is compiled hidden. Every declaration is between JW_BEGIN_DECLS and
 * JW_END_DECLS. */
#ifndef JITWARM_API_H
#define JITWARM_API_H

#ifdef __cplusplus
#define JW_LINKAGE_BEGIN extern "C" {
#define JW_LINKAGE_END   }
#else
#define JW_LINKAGE_BEGIN
#define JW_LINKAGE_END
#endif

/* On Windows a list, made from these headers, names the exported functions. */
#if defined(__GNUC__) && !defined(_WIN32)
#define JW_BEGIN_DECLS JW_LINKAGE_BEGIN _Pragma("GCC visibility push(default)")
#define JW_END_DECLS   _Pragma("GCC visibility pop") JW_LINKAGE_END
#else
#define JW_BEGIN_DECLS JW_LINKAGE_BEGIN
#define JW_END_DECLS   JW_LINKAGE_END
#endif

/* The initial value of structs that may grow in later versions: their size, and zeros. Each has a
 * macro: `struct jw_check_options options = JW_CHECK_OPTIONS_INIT;`. In C `{.size = sizeof options,
 * .paths = …}` has the same effect. */
#ifdef __cplusplus
template <typename type> static inline type jw_sized()
{
	type sized = type();

	sized.size = sizeof sized;
	return sized;
}
#define JW_INIT(type) jw_sized<struct type>()
#else
#define JW_INIT(type)                                                                              \
	{                                                                                              \
		.size = sizeof(struct type)                                                                \
	}
#endif

#endif
