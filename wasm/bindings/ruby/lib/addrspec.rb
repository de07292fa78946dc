# frozen_string_literal: true

require "json"
require_relative "addrspec/version"
require_relative "addrspec/addrspec"

# Facts about email addresses, offline. The functions use a checker of the Ractor:
#
#     Addrspec.check("jane@example.org", details: false)   # => Result; an invalid address is a result
#     Addrspec.check_many(emails)                          # => [Result]
#     Addrspec.decide(policy, "jane@example.org", mx: nil, address_record: nil, disposable: false, exchanges: [])   # => Verdict
#     Addrspec.load_lists(blob)                            # newer lists, whose signature you have verified
#     Addrspec.versions                                    # => {engine:, lists:, model:}
#
# A policy is a JSON document, or a Hash of the same form. Checker.new(lists: nil) has the same
# methods and lists of its own. Results are frozen, and Ractors can share them.
module Addrspec
  # The methods of what has JSON.
  module Facts
    attr_reader :json # the same bytes as everywhere

    def to_h = JSON.parse(json, symbolize_names: true, freeze: true)
    def as_json(*) = JSON.parse(json)
    def to_json(*) = json
    def ==(other) = other.class == self.class && other.json == json
    alias eql? ==
    def hash = json.hash
  end

  # The facts about an address.
  class Result
    include Facts
    private_class_method :new, :allocate
    attr_reader :email, :normalized, :local_part, :role, :gibberish_score, :domain, :typo_suggestion

    # nil, since nothing here asks DNS; false if there is no domain to look up.
    attr_reader :mx

    # Why the address is not valid, or nil.
    attr_reader :refusal

    def valid? = @valid
    def alias? = @alias
    def ascii? = @ascii
    def gibberish? = @gibberish
    def disposable? = @disposable
    def public? = @public
    def relay? = @relay
    def typo? = @typo

    # Why the facts are so, if details were asked for.
    def details = to_h[:details]
    def inspect = "#<#{self.class} valid=#{@valid}>"
  end

  # Why an address is not valid: a stable code, the offset of the offending byte, the section of
  # the standard, and a sentence with what is wrong and how to fix it.
  class Refusal
    private_class_method :new, :allocate
    attr_reader :code, :offset, :section, :sentence
  end

  # What a policy decides.
  class Verdict
    include Facts
    private_class_method :new, :allocate

    # :allow, :review or :block
    attr_reader :action

    def allow? = action == :allow
    def review? = action == :review
    def block? = action == :block
    def reason = to_h[:reason]

    # The place of the rule in the document, such as "block.reasons[1]".
    def rule = to_h[:rule]
  end

  # The document is no policy; place is where, such as "block.reasons[2]".
  class PolicyError < Error
    attr_reader :place
  end

  # Checks by lists of its own.
  class Checker
    def versions = JSON.parse(versions_json, symbolize_names: true)
  end

  def self.versions = JSON.parse(versions_json, symbolize_names: true)
end

# Active Model finds it by the option addrspec: of validates.
autoload :AddrspecValidator, File.expand_path("addrspec/validator.rb", __dir__)
