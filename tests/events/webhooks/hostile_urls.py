"""URLs of an attacker. `{port}` is the loopback port of the canary.

`NAMES` has what the attacker's name server would answer.
"""

_HOSTS = """
# as it is, and its neighbours
127.0.0.1 127.0.0.2 127.127.127.127 127.255.255.254 0.0.0.0 0.1.2.3 0
localhost LocalHost localhost. a.localhost localhost.localdomain ip6-localhost

# decimal, octal, hexadecimal, short, overflowing, mixed
2130706433 6425673729 017700000001 0x7f000001 0X7F000001 0x7f.1 0177.0.0.1 0177.0.0.01 00000177.0.0.1
0x7f.0x0.0x0.0x1 127.1 127.0.1 127.0x0.1 0177.1 127.0.0.1. 127.0.0.01 127.000.000.001 0x7f.0.0.1 127.0.257
383.0.0.1 0b1.0.0.1

# in other letters
１２７.0.0.1 127。0。0。1 ①②⑦.⓪.⓪.① ⑫7.0.0.1 ｌｏｃａｌｈｏｓｔ ⓛocalhost
127.0.0.1%00 127.0.0.1%2e %31%32%37.0.0.1 127%2e0%2e0%2e1 loc%61lhost

# version 6, scoped, mapped, compatible, translated, tunnelled
[::1] [0:0:0:0:0:0:0:1] [0000::0001] [::] [::1%25lo] [::1%lo] [::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1]
[0:0:0:0:0:ffff:7f00:0001] [::FFFF:127.0.0.1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1]
[64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:7f00:1::1] [2001:0:0:0:0:0:80ff:fffe] [fe80::5efe:127.0.0.1]
[2001:db8::5efe:127.0.0.1] [::ffff:169.254.169.254] [64:ff9b::a9fe:a9fe] [::ffff:10.0.0.1]

# link-local and metadata
169.254.169.254 169.254.170.2 169.254.0.1 [fe80::1] [fe80::1%25eth0] [fe80::a9fe:a9fe] [fd00:ec2::254]
[fd20:ce::254] 100.100.100.200 168.63.129.16 192.0.0.192 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518
0xA9.0xFE.0xA9.0xFE

# private
10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.254 192.168.0.1 100.64.0.1 167772161 012.0.0.1 [fc00::1]
[fd12:3456:789a::1] [fec0::1]

# of nobody and of many
224.0.0.1 239.255.255.250 255.255.255.255 240.0.0.1 192.0.2.1 198.51.100.1 203.0.113.1 198.18.0.1 192.0.0.1
192.88.99.1 [ff02::1] [ff0e::1] [100::1] [2001:db8::1] [3fff::1]

# names whose server is the enemy's
loopback.test loopback6.test mixed.test mixed-last.test mapped.test scoped.test nat64.test metadata.test
private.test unspecified.test number.test rebinding.test 127.0.0.1.nip.test metadata.google.internal
xn--loopback.test LOOPBACK.TEST loopback.test.
"""

NAMES: dict[str, list[list[str]]] = {
    "loopback.test": [["127.0.0.1"]],
    "loopback6.test": [["::1"]],
    "mixed.test": [["127.0.0.1", "8.8.8.8"]],
    "mixed-last.test": [["2606:4700::1111", "8.8.8.8", "127.0.0.1"]],
    "mapped.test": [["::ffff:127.0.0.1"]],
    "scoped.test": [["::1%lo"]],
    "nat64.test": [["64:ff9b::7f00:1"]],
    "metadata.test": [["169.254.169.254"]],
    "metadata.google.internal": [["169.254.169.254"]],
    "private.test": [["10.0.0.1"]],
    "unspecified.test": [["0.0.0.0"]],
    "number.test": [["2130706433"]],
    "127.0.0.1.nip.test": [["127.0.0.1"]],
    "xn--loopback.test": [["127.0.0.1"]],
}

_WRITTEN = [
    # credentials, and hosts that only some programs see
    *("{scheme}://user:secret@127.0.0.1:{port}/", "{scheme}://receiver.example@127.0.0.1:{port}/"),
    *("{scheme}://127.0.0.1:{port}@receiver.example/", "{scheme}://receiver.example:443@127.0.0.1:{port}/"),
    *(
        "{scheme}://receiver.example%40127.0.0.1:{port}/",
        "{scheme}://@127.0.0.1:{port}/",
        "{scheme}://:@127.0.0.1:{port}/",
    ),
    *("{scheme}://127.0.0.1:{port}\\@receiver.example/", "{scheme}:\\\\127.0.0.1:{port}/"),
    *(
        "{scheme}://receiver.example\\.127.0.0.1:{port}/",
        "{scheme}://127.0.0.1\t:{port}/",
        "{scheme}://127.0.0.1:{port} /",
    ),
    *(
        "{scheme}://127.0.0.1\n:{port}/",
        " {scheme}://127.0.0.1:{port}/",
        "{scheme}://127.0.0.1:{port}/\r\nHost: a",
    ),
    *(
        "{scheme}:127.0.0.1:{port}/",
        "{scheme}:/127.0.0.1:{port}/",
        "{scheme}:///127.0.0.1:{port}/",
        "//127.0.0.1:{port}/",
    ),
    *("{scheme}:////127.0.0.1:{port}/", "127.0.0.1:{port}", "{scheme}://127.0.0.1:{port}#@receiver.example/"),
    *("{scheme}://127.0.0.1:{port}?@receiver.example/", "{scheme}://receiver.example#@127.0.0.1:{port}/"),
    *("{scheme}://[::1]127.0.0.1:{port}/", "{scheme}://127.0.0.1:{port}:443/", "{scheme}://127.0.0.1:{port}/x#y"),
    *("{scheme}://127.0.0.1:+{port}/", "{scheme}://127.0.0.1:0{port}/", "{scheme}://[127.0.0.1]:{port}/"),
    # other schemes
    *("ftp://127.0.0.1:{port}/", "file:///etc/passwd", "gopher://127.0.0.1:{port}/_GET", "ws://127.0.0.1:{port}/"),
    *(
        "unix:///var/run/docker.sock",
        "http+unix://%2Fvar%2Frun/",
        "data:text/plain,x",
        "dict://127.0.0.1:{port}/x",
    ),
    *(
        "tcp://127.0.0.1:{port}/",
        "wss://127.0.0.1:{port}/",
        "javascript:alert(1)",
        "jar:https://127.0.0.1:{port}!/",
    ),
]


def hostile_urls(port: int) -> list[str]:
    spelled = [
        f"{{scheme}}://{host}:{{port}}/"
        for line in _HOSTS.splitlines()
        if line[:1] != "#"
        for host in line.split()
    ]
    return [
        url.replace("{scheme}", scheme).replace("{port}", str(port))
        for url in dict.fromkeys([*spelled, *_WRITTEN])
        for scheme in (("http", "https") if "{scheme}" in url else ("",))
    ]
