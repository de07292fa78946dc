<?php

declare(strict_types=1);

namespace Addrspec\Symfony;

use Symfony\Component\Validator\Constraint;
use Symfony\Component\Validator\ConstraintValidator;
use Symfony\Component\Validator\Exception\UnexpectedTypeException;
use Symfony\Component\Validator\Exception\UnexpectedValueException;

final class EmailValidator extends ConstraintValidator
{
    /** Nothing and the empty string are left to NotBlank, as usual. */
    public function validate(mixed $value, Constraint $constraint): void
    {
        if (!$constraint instanceof Email) {
            throw new UnexpectedTypeException($constraint, Email::class);
        }
        if ($value === null || $value === '') {
            return;
        }
        if (!is_scalar($value) && !$value instanceof \Stringable) {
            throw new UnexpectedValueException($value, 'string');
        }
        [$code, $problem] = $constraint->rule->problem((string) $value) ?? [null, null];
        if ($code !== null) {
            $this->context->buildViolation($constraint->message)->setParameter('{{ problem }}', $problem)
                ->setInvalidValue($value)->setCode($code)->addViolation();
        }
    }
}
