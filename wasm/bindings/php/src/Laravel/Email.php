<?php

declare(strict_types=1);

namespace Addrspec\Laravel;

use Addrspec\Rule;
use Illuminate\Contracts\Validation\Rule as OldRule;
use Illuminate\Contracts\Validation\ValidationRule;

// Laravel has ValidationRule since version 10.
class_alias(interface_exists(ValidationRule::class) ? ValidationRule::class : OldRule::class, Contract::class);

/** The value is an email address that a policy, a JSON document, does not block. */
final class Email implements Contract
{
    private readonly Rule $rule;
    private string $problem = 'it is no text';

    public function __construct(?string $policy = null, bool $allowTypo = true, private string $message = 'The :attribute is not a valid email address: :problem.')
    {
        $this->rule = new Rule($policy, $allowTypo);
    }

    public function validate(string $attribute, mixed $value, \Closure $fail): void
    {
        if (!$this->passes($attribute, $value)) {
            $fail($this->message());
        }
    }

    public function passes($attribute, $value): bool
    {
        [$code, $this->problem] = is_string($value) ? $this->rule->problem($value) ?? [null, ''] : ['type', 'it is no text'];
        return $code === null;
    }

    public function message(): string
    {
        return str_replace(':problem', $this->problem, $this->message);
    }
}
