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
  # Debugging information of a file of 35 MB would take gigabytes. As in the Makefile of the
  # library, a product and a sum stay two operations, so that results are the same everywhere.
  $debugflags = ""
  $optflags = "-O1 -ffp-contract=off"
  $warnflags = "-w"
  $INCFLAGS << %w[include src module].map { |name| " -I$(srcdir)/libaddrspec/#{name}" }.join
  $VPATH << "$(srcdir)/libaddrspec/src" << "$(srcdir)/libaddrspec/module"
  $srcs = ["binding.c", "module.c"] + Dir["#{__dir__}/libaddrspec/src/*.c"].map { |name| File.basename(name) }.sort
end
# Nobody else in the process gets our copy of the library, nor we theirs.
$LDFLAGS << " -Wl,--exclude-libs,ALL" if RUBY_PLATFORM.include?("linux")
$libs << " -lm"
create_makefile("addrspec/addrspec")
