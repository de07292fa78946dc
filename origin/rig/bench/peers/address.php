<?php
// php address.php MILLISECONDS FILE NAME... does what address.py does.
[, $milliseconds, $file] = $argv;
$functions = [
    'addrspec' => Addrspec\check(...),
    'filter_var' => fn($email) => filter_var($email, FILTER_VALIDATE_EMAIL),
];
$emails = file($file, FILE_IGNORE_NEW_LINES);
$used = array_fill_keys(array_slice($argv, 3), 0);
$until = microtime(true) + $milliseconds / 1000 * count($used);
for ($rounds = 0; microtime(true) < $until || $rounds == 0; $rounds++) {
    foreach ($used as $name => $_) {
        $before = getrusage();
        foreach ($emails as $email) {
            $functions[$name]($email);
        }
        $after = getrusage();
        foreach (['ru_utime.tv_', 'ru_stime.tv_'] as $time) {
            $used[$name] += ($after["{$time}sec"] - $before["{$time}sec"]) * 1e6 + $after["{$time}usec"] - $before["{$time}usec"];
        }
    }
}
foreach ($used as $name => $total) {
    echo json_encode(['name' => $name, 'us' => $total / $rounds / count($emails)]), "\n";
}
