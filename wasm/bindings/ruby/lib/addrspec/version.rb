# frozen_string_literal: true

module Addrspec
  VERSION = "0.3.0"
end
