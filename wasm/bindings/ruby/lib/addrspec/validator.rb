# frozen_string_literal: true

require "active_model"
require "addrspec"

I18n.load_path |= [File.expand_path("locale/en.yml", __dir__)]

# Refuses values that are no email address, that a policy blocks, or that look mistyped:
#
#     validates :email, addrspec: true
#     validates :email, addrspec: {policy: {block: {reasons: ["disposable"]}}, allow_typo: false, allow_blank: true}
#
# The error's type is the code of the refusal, such as :second_at, the policy's reason, or :typo.
# Its message is the translation addrspec.CODE, or that of addrspec.invalid or addrspec.blocked.
class AddrspecValidator < ActiveModel::EachValidator
  # A longer address is an error of Addrspec.check. This one is refused by its length.
  LONGEST = 1 << 20

  def initialize(options)
    policy = options[:policy]
    super(policy.is_a?(Hash) ? options.merge(policy: policy.to_json) : options)
  end

  # Raises Addrspec::PolicyError when the class is defined, not when somebody submits the form.
  def check_validity!
    Addrspec.decide(options[:policy], "") if options[:policy]
  end

  def validate_each(record, attribute, value)
    code, general, detail = problem(value.to_s.byteslice(0, LONGEST))
    return if code.nil?

    message = options[:message] || I18n.t(code, scope: :addrspec, default: general, detail: detail)
    record.errors.add(attribute, code.to_sym, message: message, value: value)
  end

  private

  # Returns the code, the key of the general message and what is to be put in, or nil.
  def problem(email)
    result = Addrspec.check(email, full_suggestion: true)
    return [result.refusal.code, :invalid, result.refusal.sentence] unless result.valid?
    return ["typo", :typo, result.typo_suggestion] if options[:allow_typo] == false && result.typo?

    verdict = Addrspec.decide(options[:policy], email) if options[:policy]
    [verdict.reason, :blocked, verdict.reason] if verdict&.block?
  end
end
