<?php

declare(strict_types=1);

namespace Addrspec;

/** What a form refuses: the core of the rules for Symfony and Laravel. */
final class Rule
{
    /** A longer address is an error of the extension. This one is refused by its length. */
    private const LONGEST = 1 << 20;

    /** @throws PolicyException when the rule is made, not when somebody submits the form */
    public function __construct(private readonly ?string $policy = null, private readonly bool $allowTypo = true)
    {
        if ($policy !== null) {
            decide($policy, '');
        }
    }

    /** @return ?array{string, string} a stable code and what is wrong, or null */
    public function problem(string $email): ?array
    {
        $email = substr($email, 0, self::LONGEST);
        $result = check($email, fullSuggestion: true);
        if (!$result->valid) {
            return [$result->refusal->code, $result->refusal->sentence];
        }
        if (!$this->allowTypo && $result->typo) {
            return ['typo', "it looks like a misspelling of $result->typoSuggestion"];
        }
        $verdict = $this->policy === null ? null : decide($this->policy, $email);
        return $verdict?->action === 'block' ? [$verdict->reason, "such addresses are not accepted ($verdict->reason)"] : null;
    }
}
