# ruby address.rb MILLISECONDS FILE NAME... does what address.py does.
require "addrspec"
require "json"
require "uri"

milliseconds, file, *names = ARGV
functions = {
  "addrspec" => ->(email) { Addrspec.check(email) },
  "uri" => ->(email) { URI::MailTo::EMAIL_REGEXP.match?(email) }
}
emails = File.readlines(file, chomp: true)
used = names.to_h { |name| [name, 0.0] }
clock = ->(id) { Process.clock_gettime(id) }
finish = clock.call(Process::CLOCK_MONOTONIC) + milliseconds.to_f / 1000 * names.size
rounds = 0
while rounds == 0 || clock.call(Process::CLOCK_MONOTONIC) < finish
  rounds += 1
  names.each do |name|
    check = functions.fetch(name)
    before = clock.call(Process::CLOCK_PROCESS_CPUTIME_ID)
    emails.each(&check)
    used[name] += clock.call(Process::CLOCK_PROCESS_CPUTIME_ID) - before
  end
end
used.each { |name, total| puts JSON.generate(name: name, us: total * 1e6 / rounds / emails.size) }
