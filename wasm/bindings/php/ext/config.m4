PHP_ARG_WITH([addrspec],
  [for addrspec support],
  [AS_HELP_STRING([--with-addrspec@<:@=DIR@:>@], [Check email addresses. DIR is the prefix of libaddrspec; without it pkg-config finds it])])

if test "$PHP_ADDRSPEC" != "no"; then
  AC_PATH_PROG([PKG_CONFIG], [pkg-config], [no])
  if test "$PHP_ADDRSPEC" != "yes"; then
    ADDRSPEC_PREFIX=$PHP_ADDRSPEC
  elif test "$PKG_CONFIG" != "no" && "$PKG_CONFIG" --atleast-version 0.3 addrspec; then
    ADDRSPEC_PREFIX=`"$PKG_CONFIG" --variable=prefix addrspec`
  else
    AC_MSG_ERROR([libaddrspec is missing: install it, and pass its prefix as --with-addrspec=DIR or in PKG_CONFIG_PATH])
  fi
  if test ! -f "$ADDRSPEC_PREFIX/include/addrspec.h" || test ! -f "$ADDRSPEC_PREFIX/lib/libaddrspec.a"; then
    AC_MSG_ERROR([$ADDRSPEC_PREFIX has no include/addrspec.h and lib/libaddrspec.a])
  fi
  PHP_ADD_INCLUDE([$ADDRSPEC_PREFIX/include])
  dnl The static library, so that the extension is one file that any worker can load. PHP loads
  dnl it globally; no other extension gets our copy of the library.
  ADDRSPEC_SHARED_LIBADD="$ADDRSPEC_PREFIX/lib/libaddrspec.a -lm"
  if test "`uname -s`" = "Linux"; then
    ADDRSPEC_SHARED_LIBADD="$ADDRSPEC_SHARED_LIBADD -Wl,--exclude-libs,ALL"
  fi
  PHP_SUBST([ADDRSPEC_SHARED_LIBADD])
  PHP_NEW_EXTENSION([addrspec], [addrspec.c], [$ext_shared],, [-DZEND_ENABLE_STATIC_TSRMLS_CACHE=1])
  PHP_ADD_EXTENSION_DEP([addrspec], [json])
fi
