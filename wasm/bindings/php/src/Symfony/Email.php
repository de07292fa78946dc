<?php

declare(strict_types=1);

namespace Addrspec\Symfony;

use Addrspec\Rule;
use Symfony\Component\Validator\Attribute\HasNamedArguments;
use Symfony\Component\Validator\Constraint;

/**
 * The value is an email address that a policy, a JSON document, does not block. The code of a
 * violation is that of the refusal, such as second_at, the policy's reason, or typo.
 */
#[\Attribute(\Attribute::TARGET_PROPERTY | \Attribute::TARGET_METHOD | \Attribute::IS_REPEATABLE)]
final class Email extends Constraint
{
    public readonly Rule $rule;

    #[HasNamedArguments]
    public function __construct(
        ?string $policy = null,
        bool $allowTypo = true,
        public string $message = 'This value is not a valid email address: {{ problem }}.',
        ?array $groups = null,
        mixed $payload = null,
    ) {
        parent::__construct(null, $groups, $payload);
        $this->rule = new Rule($policy, $allowTypo);
    }
}
