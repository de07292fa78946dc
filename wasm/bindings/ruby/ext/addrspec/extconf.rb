# frozen_string_literal: true

# Compiles the extension with the C sources of libaddrspec that the gem carries, which takes a
# minute or two, or links the installed library:
#
#     gem install addrspec -- --with-addrspec-dir=/usr/local

require "mkmf"

$CFLAGS << " -fvisibility=hidden -DNDEBUG"
if (prefix = with_config("addrspec-dir"))
  abort "#{prefix}/lib/libaddrspec.a is missing" unless File.exist?("#{prefix}/lib/libaddrspec.a")
  $INCFLAGS << " -I#{prefix}/include"
  $LOCAL_LIBS << " #{prefix}/lib/libaddrspec.a"
else
  # As in the library's Makefile: a product and a sum stay two operations, so that results are
  # the same everywhere. Debugging information of a file of 35 MB would take gigabytes. These
  # follow the flags of Ruby, and so override them.
  $CFLAGS << " -O1 -g0 -w -ffp-contract=off"
  $INCFLAGS << %w[include src module].map { |name| " -I$(srcdir)/libaddrspec/#{name}" }.join
  $VPATH << "$(srcdir)/libaddrspec/src" << "$(srcdir)/libaddrspec/module"
  $srcs = ["binding.c", "module.c"] + Dir["#{__dir__}/libaddrspec/src/*.c"].map { |name| File.basename(name) }.sort
end
# Nobody else in the process gets our copy of the library, nor we theirs.
$LDFLAGS << " -Wl,--exclude-libs,ALL" if RUBY_PLATFORM.include?("linux")
$libs << " -lm"
create_makefile("addrspec/addrspec")
