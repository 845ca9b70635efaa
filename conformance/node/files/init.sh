#!/bin/sh
# init.sh FOLDER HIERARCHY...: the first process of the node, in new namespaces; with it the node ends.
#
# The node sees the machine's files, but what it writes to /etc, /run and /var lands in FOLDER.  HIERARCHY is a cgroup
# hierarchy: its name, a colon, its mount options.
set -eu
folder=$1; shift

mount --make-rshared /
mount -t sysfs sysfs /sys
mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
for hierarchy in "$@"; do
    mkdir "/sys/fs/cgroup/${hierarchy%%:*}"
    mount -t cgroup -o "${hierarchy#*:}" cgroup "/sys/fs/cgroup/${hierarchy%%:*}"
done

for each in etc run var; do
    mkdir -p "$folder/over/$each" "$folder/over/.$each"
    mount -t overlay -o "lowerdir=/$each,upperdir=$folder/over/$each,workdir=$folder/over/.$each" overlay "/$each"
done
rm -f /etc/resolv.conf
cp "$folder/resolv.conf" /etc/resolv.conf
mkdir -p /run/netns
mount -t tmpfs tmpfs /run/netns
mount --make-rshared /

# kubelet sets these for the whole machine; it finds what it wants in files, and the machine keeps its own.
while read -r name value; do
    file=$folder/sysctl/$(echo "$name" | tr / _)
    echo "$value" >"$file"
    mount --bind "$file" "/proc/sys/$name"
done <<EOF
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
EOF

# A link whose far end leads nowhere: the node's address, and that of the name server beyond the cluster.
hostname node
ip link set lo up
ip link add node0 type veth peer name nowhere
ip address add 172.30.0.10/24 dev node0
ip address add 172.30.0.53/24 dev node0
ip link set node0 up
ip link set nowhere up
ip route add default via 172.30.0.1
for name in net/ipv4/ip_forward net/bridge/bridge-nf-call-iptables; do
    [ ! -e "/proc/sys/$name" ] || echo 1 >"/proc/sys/$name"
done

touch "$folder/up"
while :; do sleep 3600 & wait $! || true; done  # and waits for the orphans of all others
