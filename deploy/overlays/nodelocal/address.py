"""Gives the loopback interface of the node an address, that of the first argument; again makes no difference."""

import fcntl
import socket
import struct
import sys

SIOCSIFADDR = 0x8916
SIOCSIFNETMASK = 0x891C
LABEL = b"lo:pydns"
"""An address beside 127.0.0.1, as ``ip address add … label lo:pydns`` makes it (netdevice(7))."""

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    for request, address in ((SIOCSIFADDR, sys.argv[1]), (SIOCSIFNETMASK, "255.255.255.255")):
        fcntl.ioctl(sock, request, struct.pack("16sHH4s8x", LABEL, socket.AF_INET, 0, socket.inet_aton(address)))
