# frozen_string_literal: true

require_relative "lib/addrspec/version"

# A source gem, which carries the C sources of libaddrspec. With ADDRSPEC_PLATFORM set it is one
# with the extension compiled for that platform and Ruby 3.1.
Gem::Specification.new do |s|
  s.name = "addrspec"
  s.version = Addrspec::VERSION
  s.summary = "Facts about email addresses, offline: valid, disposable, role, gibberish, typo"
  s.description = "Checks email addresses without a network: syntax with the reason of a refusal, normal form, " \
                  "disposable, public and relay providers, roles, gibberish and mistyped domains. With a validator for Active Model."
  s.authors = ["The addrspec authors"]
  s.homepage = "https://github.com/addrspec/addrspec"
  s.license = "Apache-2.0"
  s.metadata = {"rubygems_mfa_required" => "true"}
  s.files = Dir["lib/**/*.{rb,yml}", "README.md", "CHANGELOG.md", "LICENSE", "module/NOTICE"].sort
  if (platform = ENV["ADDRSPEC_PLATFORM"])
    s.platform = platform
    s.required_ruby_version = "~> 3.1.0"
    s.files << "lib/addrspec/addrspec.so"
  else
    s.required_ruby_version = ">= 3.1"
    s.extensions = ["ext/addrspec/extconf.rb"]
    s.files += Dir["ext/**/*"].select { |name| File.file?(name) }.sort
  end
end
