# frozen_string_literal: true

require "minitest/autorun"
require "active_model"
require "addrspec"

class TestValidator < Minitest::Test
  POLICY = {block: {reasons: ["disposable"]}}.freeze

  # Returns a record whose email was validated by these options.
  def validated(email, options = true)
    record_class = Class.new do
      include ActiveModel::Model
      attr_accessor :email
      def self.name = "Person"
      validates :email, addrspec: options
    end
    record_class.new(email: email).tap(&:validate)
  end

  def details(...) = validated(...).errors.details[:email].map { |detail| detail[:error] }

  def test_validity
    assert_empty details("jane@example.org")
    record = validated("jane.@example.org")
    assert_equal [{error: :local_part_ends_with_dot, value: "jane.@example.org"}], record.errors.details[:email]
    assert_equal ["Email is not a valid email address: the local part ends with a dot; remove it"], record.errors.full_messages
  end

  def test_policy
    assert_empty details("a@mailinator.com")
    assert_equal [:disposable], details("a@mailinator.com", {policy: POLICY})
    assert_equal [:disposable], details("a@mailinator.com", {policy: POLICY.to_json})
    assert_equal ["is not accepted (disposable)"], validated("a@mailinator.com", {policy: POLICY}).errors[:email]
    assert_empty details("info@example.org", {policy: {review: {reasons: ["role"]}}})
    error = assert_raises(Addrspec::PolicyError) { validated("jane@example.org", {policy: {blok: {}}}) }
    assert_equal "the document", error.place
  end

  def test_typo
    assert_empty details("jane@hotmial.com")
    assert_equal [:typo], details("jane@hotmial.com", {allow_typo: false})
    assert_equal ["looks like a misspelling of jane@hotmail.com"], validated("jane@hotmial.com", {allow_typo: false}).errors[:email]
  end

  def test_options_of_active_model
    assert_equal [:empty], details("")
    assert_equal [:empty], details(nil)
    assert_empty details("", {allow_blank: true})
    assert_empty details(nil, {allow_nil: true})
    assert_equal ["is wrong"], validated("jane@", {message: "is wrong"}).errors[:email]
    assert_empty details("jane@", {if: -> { false }})
  end

  def test_hostile_values
    assert_equal [:address_too_long], details("a" * (2 << 20))
    assert_equal [:malformed_utf8], details("\xff@example.org".b)
    assert_equal [:no_at], details(7)
    refute_empty details(["jane@example.org"])
  end

  def test_translation
    AddrspecValidator.name # loads its translations, and I18n then forgets what is in no file
    I18n.backend.store_translations(:de, addrspec: {domain_missing: "braucht eine Domain", blocked: "wird nicht angenommen (%{detail})"})
    I18n.available_locales = %i[en de]
    I18n.with_locale(:de) do
      assert_equal ["braucht eine Domain"], validated("jane@").errors[:email]
      assert_equal ["wird nicht angenommen (disposable)"], validated("a@mailinator.com", {policy: POLICY}).errors[:email]
    end
  end
end
