<?php

/**
 * What the extension addrspec defines, for editors and analysers. The extension itself reads
 * no file but the lists that the setting addrspec.lists names.
 */

namespace Addrspec;

/** Checks an address by the checker of the process. An address that is not valid is a result. */
function check(string $email, bool $details = false, bool $fullSuggestion = false): Result {}

/**
 * Checks addresses and keeps their keys.
 *
 * @param array<string> $emails
 * @return array<Result>
 */
function check_many(array $emails, bool $details = false, bool $fullSuggestion = false): array {}

/**
 * Returns the verdict of a policy, a JSON document, on an address. Pass what you have looked
 * up; a reason that needs what is null is skipped. The exchanges are names in lower case, with
 * "*" for those that are left out.
 *
 * @param array<string> $exchanges
 * @throws PolicyException the document is no policy
 */
function decide(string $policy, string $email, ?bool $mx = null, ?bool $addressRecord = null, bool $disposable = false, array $exchanges = []): Verdict {}

/** @return array{engine: string, lists: string, model: string} */
function versions(): array {}

/** Checks addresses by lists of its own. Prefer the functions, whose checker is made once a process. */
final class Checker
{
    /** @throws ListsException the blob is no lists.blob; verify its signature before */
    public function __construct(?string $lists = null) {}

    public function check(string $email, bool $details = false, bool $fullSuggestion = false): Result {}

    /**
     * @param array<string> $emails
     * @return array<Result>
     */
    public function checkMany(array $emails, bool $details = false, bool $fullSuggestion = false): array {}

    /**
     * @param array<string> $exchanges
     * @throws PolicyException
     */
    public function decide(string $policy, string $email, ?bool $mx = null, ?bool $addressRecord = null, bool $disposable = false, array $exchanges = []): Verdict {}

    /** @throws ListsException the lists were refused; those before are in use */
    public function loadLists(string $blob): void {}

    /** @return array{engine: string, lists: string, model: string} */
    public function versions(): array {}
}

/** The facts about an address. */
final class Result implements \JsonSerializable
{
    /** The facts as JSON, the same bytes as everywhere. */
    public readonly string $json;
    public readonly string $email;
    public readonly bool $valid;
    public readonly ?string $normalized;
    public readonly ?string $localPart;
    public readonly bool $alias;
    public readonly bool $ascii;
    public readonly ?string $role;
    public readonly bool $gibberish;
    public readonly float $gibberishScore;
    public readonly ?string $domain;
    /** null, since nothing here asks DNS; false if there is no domain to look up. */
    public readonly ?bool $mx;
    public readonly bool $disposable;
    public readonly bool $public;
    public readonly bool $relay;
    public readonly bool $typo;
    public readonly ?string $typoSuggestion;
    /** Why the address is not valid. */
    public readonly ?Refusal $refusal;
    /** The member details of the JSON, if it was asked for. */
    public readonly ?array $details;

    private function __construct() {}

    public function jsonSerialize(): mixed {}
}

/** Why an address is not valid. */
final class Refusal
{
    /** A stable name, such as second_at. */
    public readonly string $code;
    /** The offset of the offending byte. */
    public readonly int $offset;
    public readonly string $section;
    /** What is wrong and how to fix it. */
    public readonly string $sentence;

    private function __construct() {}
}

/** What a policy decides. */
final class Verdict implements \JsonSerializable
{
    public readonly string $json;
    /** allow, review or block */
    public readonly string $action;
    public readonly ?string $reason;
    /** The place of the rule in the document, such as block.reasons[1]. */
    public readonly ?string $rule;

    private function __construct() {}

    public function jsonSerialize(): mixed {}
}

/** An address over 1 MiB, or no memory. The code is that of addrspec.h. */
class Exception extends \RuntimeException {}

/** The lists were refused. */
final class ListsException extends Exception {}

/** The document is no policy. */
final class PolicyException extends Exception
{
    /** The place in the document, such as block.reasons[2]. */
    public readonly string $place;
}
