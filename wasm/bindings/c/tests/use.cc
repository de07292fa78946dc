// The header in C++, and a program of a user's own.
#include <addrspec.h>

#include <iostream>
#include <memory>
#include <string>

int main() {
    std::unique_ptr<addrspec_checker, decltype(&addrspec_free)> checker(addrspec_new(), addrspec_free);
    const std::string address = "jane@example.org";
    const addrspec_result *result = addrspec_check(checker.get(), address.data(), address.size(), 0);
    std::cout << (result == nullptr ? addrspec_error_message(checker.get()) : result->domain) << '\n';
    return result == nullptr;
}
