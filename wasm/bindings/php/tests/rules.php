<?php

// Prints what the rules for Symfony and Laravel make of addresses, by the real validators,
// which include_path has. Without them it ends with 3.

declare(strict_types=1);

use Addrspec\Laravel\Email as LaravelEmail;
use Addrspec\Symfony\Email as SymfonyEmail;

const POLICY = '{"block": {"reasons": ["disposable"]}, "review": {"reasons": ["role"]}}';
const EMAILS = ['jane@example.org', 'jane.@example.org', 'jane@hotmial.com', 'a@mailinator.com', 'info@example.org', '', null, 7];

spl_autoload_register(function (string $class) {
    $file = dirname(__DIR__) . '/src/' . str_replace(['Addrspec\\', '\\'], ['', '/'], $class) . '.php';
    if (str_starts_with($class, 'Addrspec\\') && is_file($file)) {
        require $file;
    }
});
error_reporting(E_ALL & ~E_DEPRECATED);
$autoload = ['symfony' => 'Symfony/Component/Validator/autoload.php', 'laravel' => 'Illuminate/Validation/autoload.php'][$argv[1]];
stream_resolve_include_path($autoload) || exit(3);
require $autoload;
try {
    $argv[1] === 'symfony' ? new SymfonyEmail('{"blok": {}}') : new LaravelEmail('{"blok": {}}');
} catch (Addrspec\PolicyException $e) {
    echo "$e->place\n";
}
$argv[1] === 'symfony' ? symfony() : laravel();

function show(mixed $email, string $what): void
{
    echo json_encode(is_string($email) && strlen($email) > 40 ? strlen($email) . ' bytes' : $email, JSON_INVALID_UTF8_SUBSTITUTE), " $what\n";
}

/** A user's class. */
final class Person
{
    #[SymfonyEmail(policy: POLICY, allowTypo: false, groups: ['strict'])]
    #[SymfonyEmail]
    public mixed $email = null;
}

function symfony(): void
{
    $builder = Symfony\Component\Validator\Validation::createValidatorBuilder();
    method_exists($builder, 'enableAttributeMapping') ? $builder->enableAttributeMapping() : $builder->enableAnnotationMapping(true);
    $validator = $builder->getValidator();
    foreach ([...EMAILS, str_repeat('a', 2 << 20), "\xff@example.org"] as $email) {
        $person = new Person();
        $person->email = $email;
        foreach (['Default', 'strict'] as $group) {
            $violations = $validator->validate($person, null, [$group]);
            show($email, $group . ' ' . implode(' | ', array_map(fn ($v) => $v->getCode() . ' ' . $v->getPropertyPath() . ' ' . $v->getMessage(), iterator_to_array($violations))));
        }
    }
    foreach ($validator->validate([], new SymfonyEmail()) as $violation) {
        echo $violation->getMessage(), "\n";
    }
    echo unserialize(serialize(new SymfonyEmail(POLICY)))->rule->problem('a@mailinator.com')[0], " from the cache\n";
}

function laravel(): void
{
    $factory = new Illuminate\Validation\Factory(new Illuminate\Translation\Translator(new Illuminate\Translation\ArrayLoader(), 'en'));
    foreach ([...EMAILS, [], str_repeat('a', 2 << 20), "\xff@example.org"] as $email) {
        foreach ([new LaravelEmail(), new LaravelEmail(POLICY, allowTypo: false)] as $rule) {
            $validator = $factory->make(['email' => $email], ['email' => ['nullable', $rule]]);
            show($email, implode(' | ', $validator->errors()->all()));
        }
    }
}
