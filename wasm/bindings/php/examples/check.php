<?php

/*
 * Prints one line of JSON for each address:
 *
 *     php check.php [-0] [-1] [-d] [-l LISTS] [-p] [ADDRESS...]
 *
 * It checks its arguments or, without any, the lines of standard input. With -0, addresses in
 * the input end with a zero byte instead; with -1, it checks one by one, not in bulk; with -d,
 * results have the member details; with -l, the lists are those of a newer lists.blob, whose
 * signature minisign verifies. With -p, the input has six texts for each address, which end
 * with a zero byte: the document of a policy, the address, of mx, the address record and
 * disposable exchanges 1, 0 or nothing, as far as they were looked up, and the names of the
 * exchanges with spaces between; it prints the verdict, or why the document is no policy.
 */

declare(strict_types=1);

const CHUNK = 1000;
const LONGEST = 2 << 20;

set_exception_handler(function (Throwable $e) {
    fwrite(STDERR, "check: {$e->getMessage()}\n");
    exit(1);
});

// getopt rejects -0, and options end at the first that is none.
$options = [];
for ($n = 1; $n < $argc && preg_match('/^-[01dlp]$/', $argv[$n]); $n++) {
    $options[$argv[$n]] = $argv[$n] === '-l' ? file_get_contents($argv[++$n]) : true;
}
$checker = new Addrspec\Checker($options['-l'] ?? null);
if (isset($options['-p'])) {
    decide_all($checker, explode("\0", stream_get_contents(STDIN)));
} else {
    print_all($checker, $n < $argc ? array_slice($argv, $n) : inputs(isset($options['-0'])), $options);
}

function inputs(bool $zero): iterable
{
    while (($line = stream_get_line(STDIN, LONGEST, $zero ? "\0" : "\n")) !== false) {
        yield $zero ? $line : preg_replace('/\r$/D', '', $line);
    }
}

function print_all(Addrspec\Checker $checker, iterable $emails, array $options): void
{
    $chunk = [];
    foreach ($emails as $email) {
        $chunk[] = $email;
        if (count($chunk) === CHUNK) {
            print_chunk($checker, $chunk, $options);
            $chunk = [];
        }
    }
    print_chunk($checker, $chunk, $options);
}

function print_chunk(Addrspec\Checker $checker, array $emails, array $options): void
{
    $details = isset($options['-d']);
    $results = isset($options['-1'])
        ? array_map(fn (string $email) => $checker->check($email, $details), $emails)
        : $checker->checkMany($emails, $details);
    foreach ($results as $result) {
        echo $result->json, "\n";
    }
}

function decide_all(Addrspec\Checker $checker, array $texts): void
{
    $known = fn (string $text) => $text === '' ? null : $text === '1';
    foreach (array_chunk(array_slice($texts, 0, -1), 6) as [$policy, $email, $mx, $record, $disposable, $names]) {
        try {
            echo $checker->decide($policy, $email, $known($mx), $known($record), $disposable === '1', explode(' ', $names))->json, "\n";
        } catch (Addrspec\PolicyException $e) {
            echo $e->getMessage(), "\n";
        }
    }
}
