// The header in C++, and a program of a user's own.
#include <addrspec.h>

#include <iostream>
#include <memory>
#include <string>

int main() {
    addrspec_error error;
    std::unique_ptr<addrspec_checker, decltype(&addrspec_checker_free)> checker(addrspec_checker_new(nullptr, &error),
                                                                                addrspec_checker_free);
    if (!checker) {
        std::cerr << error.message << '\n';
        return 1;
    }
    const std::string address = "jane@example.org";
    addrspec_facts *facts;
    if (addrspec_check(checker.get(), address.data(), address.size(), 0, &facts, &error) != ADDRSPEC_OK) return 1;
    std::cout << facts->domain.data << '\n';
    addrspec_facts_free(facts);
}
