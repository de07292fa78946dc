# frozen_string_literal: true

# Compiles the extension with the C sources of libaddrspec that the gem carries, which takes a
# minute or two, or links the installed library:
#
#     gem install addrspec -- --with-addrspec-dir=/usr/local

require "mkmf"

$CFLAGS << " -fvisibility=hidden -DNDEBUG"
$optflags = "-O2"
if (prefix = with_config("addrspec-dir"))
  abort "#{prefix}/lib/libaddrspec.a is missing" unless File.exist?("#{prefix}/lib/libaddrspec.a")
  $INCFLAGS << " -I#{prefix}/include"
  $LOCAL_LIBS << " #{prefix}/lib/libaddrspec.a"
else
  # Debugging information of a file of 35 MB would take gigabytes.
  $debugflags = ""
  $warnflags = "-w"
  $INCFLAGS << %w[include src module].map { |name| " -I$(srcdir)/libaddrspec/#{name}" }.join
  $VPATH << "$(srcdir)/libaddrspec/src" << "$(srcdir)/libaddrspec/module"
  $srcs = %w[binding.c addrspec.c result.c runtime.c module.c]
end
# Nobody else in the process gets our copy of the library, nor we theirs.
$LDFLAGS << " -Wl,--exclude-libs,ALL" if RUBY_PLATFORM.include?("linux")
$libs << " -lm"
create_makefile("addrspec/addrspec")
