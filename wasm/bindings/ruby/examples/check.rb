# frozen_string_literal: true

# Prints one line of JSON for each address:
#
#     ruby check.rb [-0] [-1] [-d] [-l LISTS] [-p] [ADDRESS...]
#
# It checks its arguments or, without any, the lines of standard input. With -0, addresses in
# the input end with a zero byte instead; with -1, it checks one by one, not in bulk; with -d,
# results have the member details; with -l, the lists are those of a newer lists.blob, whose
# signature minisign verifies. With -p, the input has six texts for each address, which end
# with a zero byte: the document of a policy, the address, of mx, the address record and
# disposable exchanges 1, 0 or nothing, as far as they were looked up, and the names of the
# exchanges with spaces between; it prints the verdict, or why the document is no policy.

require "addrspec"
require "optparse"

CHUNK = 1000

options = {}
OptionParser.new do |o|
  o.on("-0") { options[:zero] = true }
  o.on("-1") { options[:single] = true }
  o.on("-d") { options[:details] = true }
  o.on("-l LISTS") { |file| options[:lists] = File.binread(file) }
  o.on("-p") { options[:policies] = true }
end.parse!

$stdin.binmode
$stdout.binmode
checker = Addrspec::Checker.new(lists: options[:lists])

if options[:policies]
  fact = {"1" => true, "0" => false}
  $stdin.each_line("\0", chomp: true).each_slice(6) do |policy, email, mx, record, disposable, names|
    found = {mx: fact[mx], address_record: fact[record], disposable: disposable == "1", exchanges: names.split}
    puts checker.decide(policy, email, **found).json
  rescue Addrspec::PolicyError => e
    puts e.message
  end
  exit
end

emails = ARGV.empty? ? $stdin.each_line(options[:zero] ? "\0" : "\n").map { |line| options[:zero] ? line.chomp("\0") : line.chomp } : ARGV
emails.each_slice(CHUNK) do |chunk|
  details = options.fetch(:details, false)
  results = options[:single] ? chunk.map { |email| checker.check(email, details: details) } : checker.check_many(chunk, details: details)
  results.each { |result| puts result.json }
end
