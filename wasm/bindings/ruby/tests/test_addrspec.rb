# frozen_string_literal: true

require "minitest/autorun"
require "addrspec"
require "timeout"

class TestAddrspec < Minitest::Test
  POLICY = {block: {reasons: %w[disposable no_mx]}, review: {reasons: ["role"]}}.freeze

  def test_facts
    result = Addrspec.check("jane.doe+news@hotmial.com")
    assert_predicate result, :valid?
    assert_predicate result, :alias?
    assert_equal "jane.doe+news", result.local_part
    assert_equal "hotmail.com", result.typo_suggestion
    assert_in_delta 0.01, result.gibberish_score
    assert_nil result.mx
    assert_nil result.refusal
    assert_nil result.details
    assert_equal JSON.parse(result.json, symbolize_names: true), result.to_h
    assert_equal({"result" => result.as_json}, JSON.parse({result: result}.to_json))
    assert_equal "jane@hotmail.com", Addrspec.check("jane@hotmial.com", full_suggestion: true).typo_suggestion
    refute Addrspec.check("jane@[192.0.2.1]").mx
    assert_equal result, Marshal.load(Marshal.dump(result))
    refute_includes result.inspect, "jane"
  end

  def test_predicates_are_the_members_of_the_json
    Addrspec.check_many(["a@mailinator.com", "jane@gmail.com", "jane@hotmial.com", "xkjqzw@b.example", "jöhn+x@example.org"]).each do |result|
      result.to_h.each do |name, value|
        next if name == :gibberish_score
        fact = [true, false].include?(value) && name != :mx ? result.public_send("#{name}?") : result.public_send(name)
        assert_operator value, :==, fact, name
      end
    end
  end

  def test_refusal
    result = Addrspec.check("jane.@example.org", details: true)
    refute_predicate result, :valid?
    assert_equal ["local_part_ends_with_dot", 4, "the local part ends with a dot; remove it"], [result.refusal.code, result.refusal.offset, result.refusal.sentence]
    assert_equal "local_part_ends_with_dot", result.details[:refusal][:code]
  end

  def test_many
    emails = %w[info@example.org jane@]
    assert_equal emails.map { |email| Addrspec.check(email) }, Addrspec.check_many(emails)
    assert_equal emails.size, Addrspec.check_many(emails.each).size
    assert_empty Addrspec.check_many([])
  end

  def test_decide
    verdict = Addrspec.decide(POLICY, "info@example.org", mx: true)
    assert_equal [:review, "role", "review.reasons[0]"], [verdict.action, verdict.reason, verdict.rule]
    assert_predicate Addrspec.decide(POLICY.to_json, "info@example.org", mx: false), :block?
    assert_predicate Addrspec.decide(POLICY, "jane@example.org", disposable: true), :block?
    assert_predicate Addrspec.decide({}, "jane@example.org", address_record: false), :allow?
    assert_raises(TypeError) { Addrspec.decide({}, "jane@example.org", exchanges: "mx.example.org") }
    assert_raises(ArgumentError) { Addrspec.decide({}, "jane@example.org", exchanges: ["mx.burner.example\0", "mx.example.org"]) }
    error = assert_raises(Addrspec::PolicyError) { Addrspec.decide({block: {reasons: ["disposible"]}}, "jane@example.org") }
    assert_equal "block.reasons[0]", error.place
    assert_equal 'block.reasons[0]: "disposible" is no reason; did you mean "disposable"?', error.message
  end

  def test_policies_of_the_vectors
    File.foreach(ENV.fetch("ADDRSPEC_POLICIES")) do |line|
      c = JSON.parse(line, symbolize_names: true)
      got = begin
        found = {mx: c[:mx], address_record: c[:address], disposable: c.fetch(:disposable, false), exchanges: c[:exchanges] || []}
        Addrspec.decide(c[:policy].to_s, c[:email].to_s, **found).to_h
      rescue Addrspec::PolicyError => e
        e.message
      end
      assert_equal c[:verdict] || c[:error], got
    end
  end

  def test_lists
    checker = Addrspec::Checker.new
    error = assert_raises(Addrspec::ListsError) { checker.load_lists("damaged") }
    assert_match(/lists were refused/, error.message)
    assert_raises(Addrspec::ListsError) { Addrspec::Checker.new(lists: "\0" * ((4 << 20) + 1)) }
    assert_raises(Addrspec::Error) { checker.load_lists("") }
    newer = Addrspec::Checker.new(lists: File.binread(ENV.fetch("ADDRSPEC_LISTS")))
    refute_equal checker.versions[:lists], newer.versions[:lists]
    assert_equal Addrspec.versions, checker.versions
  end

  def test_encodings
    %w[ISO-8859-9 Windows-1254 UTF-16LE UTF-8].each do |encoding|
      result = Addrspec.check("İbrahim@bücher.example".encode(encoding))
      texts = {normalized: "i\u0307brahim@bücher.example", local_part: "İbrahim", domain: "bücher.example", email: "İbrahim@bücher.example"}
      texts.each { |name, text| assert_equal text, result.public_send(name) }
      policy = '{"block": {"domains": ["bücher.example"]}}'.encode(encoding)
      verdict = Addrspec.decide(policy, result.email.encode(encoding))
      assert_predicate verdict, :block?
      [result.json, verdict.json].each { |json| assert_equal Encoding::UTF_8, json.encoding }
    end
  end

  def test_hostile_input
    assert_equal "control_character", Addrspec.check("jane\0@example.org").refusal.code
    assert_equal "malformed_utf8", Addrspec.check("\xff\xfe@example.org").refusal.code
    assert_equal "malformed_utf8", Addrspec.check("\xff@example.org".b).refusal.code
    assert_predicate Addrspec.check("jös\u00e9@example.org".encode("ISO-8859-1")), :valid?
    assert_predicate Addrspec.check("jane@example.org".encode("UTF-16LE")), :valid?
    assert_equal Encoding::UTF_8, Addrspec.check("\xff\x00\"\\@").json.encoding
    assert Addrspec.check("\xff\x00\"\\@\xc3").json.valid_encoding?
    assert_equal "address_too_long", Addrspec.check("a" * (1 << 20)).refusal.code
    error = assert_raises(Addrspec::Error) { Addrspec.check("a" * (2 << 20)) }
    assert_equal "the address has more than 1 MiB", error.message
    assert_raises(Addrspec::Error) { Addrspec.check_many(["jane@example.org", "a" * (2 << 20)]) }
    [nil, 7, :jane, [], Object.new].each { |wrong| assert_raises(TypeError) { Addrspec.check(wrong) } }
    assert_raises(TypeError) { Addrspec.check_many("jane@example.org") }
    assert_raises(TypeError) { Addrspec.check_many(["jane@example.org", nil]) }
    assert_raises(TypeError) { Addrspec.decide(nil, "jane@example.org") }
    assert_raises(ArgumentError) { Addrspec.check }
    assert_raises(ArgumentError) { Addrspec.check("jane@example.org", detail: true) }
    assert_raises(Addrspec::PolicyError) { Addrspec.decide(" " * (3 << 20), "jane@example.org") }
    assert_predicate Addrspec.check("jane@example.org"), :valid?
  end

  # Conversions run Ruby code, which may use the checker and change the array.
  def test_conversions_that_interfere
    emails = ["jane@example.org"]
    other = Object.new
    other.define_singleton_method(:to_str) { emails.clear; Addrspec.check("bad"); +"info@example.org" }
    emails.push(other, "never@example.org")
    assert_equal %w[jane@example.org info@example.org], Addrspec.check_many(emails).map(&:email)
  end

  def test_objects
    result = Addrspec.check("jane@")
    [result, result.json, result.refusal, result.refusal.sentence, Addrspec.decide({}, "jane@")].each { |value| assert_predicate value, :frozen? }
    assert Ractor.shareable?(result)
    assert_raises(NoMethodError) { Addrspec::Result.new }
    assert_raises(NoMethodError) { Addrspec::Result.allocate }
    checker = Addrspec::Checker.new
    assert_raises(NoMethodError) { checker.dup }
    assert_raises(TypeError) { Marshal.dump(checker) }
    assert_raises(Addrspec::Error) { Addrspec::Checker.allocate.check("jane@example.org") }
    assert_predicate checker.tap { |c| c.send(:initialize) }.check("jane@example.org"), :valid?
  end

  SAMPLE = %w[jane@example.org jane.@example.org jane@hotmial.com a@mailinator.com info@example.org].freeze

  def json_of(checker) = SAMPLE.map { |email| checker.check(email, details: true).json }

  def test_collected_at_every_allocation
    want = json_of(Addrspec)
    GC.stress = true
    got = json_of(Addrspec) + Addrspec.check_many(SAMPLE, details: true).map(&:json)
    Addrspec.decide(POLICY, "a@mailinator.com")
    assert_raises(Addrspec::PolicyError) { Addrspec.decide("[]", "a@mailinator.com") }
    3.times { Addrspec::Checker.new.check("jane@example.org") }
  ensure
    GC.stress = false
    assert_equal want + want, got
  end

  # Checkers that nothing refers to are freed, since the collector knows their size.
  def test_checkers_are_collected
    alive = lambda { ObjectSpace.each_object(Addrspec::Checker).count }
    400.times { Addrspec::Checker.new }
    assert_operator alive.call, :<, 200
  end

  # Threads share the checker of the process, and one thread its own.
  def test_threads
    want = json_of(Addrspec)
    threads = Array.new(8) { |n| Thread.new { checker = n.even? ? Addrspec : Addrspec::Checker.new; Array.new(300) { json_of(checker) }.uniq } }
    assert_equal [[want]], threads.map(&:value).uniq
  end

  # While a thread checks many, others run: one ends the work by emptying the array.
  def test_many_lets_other_threads_run
    started = Queue.new
    first = Object.new.tap { |email| email.define_singleton_method(:to_str) { started.push(true); "jane@example.org" } }
    emails = Array.new(2_000_000, "jane@example.org").tap { |all| all[0] = first }
    thread = Thread.new { Addrspec.check_many(emails) }
    started.pop
    emails.clear
    assert_operator thread.value.size, :<, 2_000_000
  end

  # As puma and unicorn do, with a checker that was made before.
  def test_fork
    want = json_of(Addrspec)
    children = Array.new(4) { fork { exit!(json_of(Addrspec) == want && json_of(Addrspec::Checker.new) == want ? 0 : 1) } }
    children.each { |child| assert_equal 0, Process.wait2(child)[1].exitstatus }
    assert_equal want, json_of(Addrspec)
  end

  def test_ractors
    experimental, Warning[:experimental] = Warning[:experimental], false
    want = json_of(Addrspec)
    ractors = Array.new(3) { Ractor.new { SAMPLE.map { |email| Addrspec.check(email, details: true) } } }
    ractors.each { |ractor| assert_equal want, ractor.take.map(&:json) }
  ensure
    Warning[:experimental] = experimental
  end

  # A fiber has the smallest stack of all.
  def test_fibers
    hostile = ["#{"(" * 100}a#{")" * 100}@example.org", "#{"a." * 500}@example.org", "jane@#{"x." * 120}example", "jane@#{"ü" * 60}.example", "\"#{"\\ " * 100}\"@example.org"]
    want = Addrspec.check_many(hostile, details: true).map(&:json)
    assert_equal want, Fiber.new { Addrspec::Checker.new.check_many(hostile, details: true).map(&:json) }.resume
    policy = {block: {domains: Array.new(10_000) { |n| "host#{n}.example" }}}.to_json
    assert_predicate Fiber.new { Addrspec::Checker.new.decide(policy, "jane@host9999.example") }.resume, :block?
    blob = File.binread(ENV.fetch("ADDRSPEC_LISTS"))
    assert Fiber.new { Addrspec::Checker.new(lists: blob).check("jane@gmail.com").public? }.resume
  end
end
