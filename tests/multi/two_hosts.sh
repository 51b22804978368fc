#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# two_hosts.sh MPIEXEC [--lose-link] PROGRAM ARGUMENT...: runs PROGRAM as two ranks over TCP, each in a
# network namespace of its own, as on two machines. With --lose-link the second is cut off when the program
# has printed "epoch", and both must end by themselves. Exits with 77 where namespaces cannot be made.
set -u
mpiexec=$1
shift
lose_link=no
if [ "$1" = --lose-link ]; then
  lose_link=yes
  shift
fi
a=tutti$$a b=tutti$$b
folder=$(mktemp -d)
processes() {
  ip netns pids "$a"
  ip netns pids "$b"
}
ranks() {
  local id
  for id in $(processes); do
    if [ "/proc/$id/exe" -ef "$1" ]; then echo "$id"; fi
  done
}
remove() {
  processes | xargs -r kill -9
  ip netns del "$a"
  ip netns del "$b"
  rm -r "$folder"
} 2>/dev/null
trap remove EXIT
make_hosts() {
  ip netns add "$a" && ip netns add "$b" && ip link add "$a" type veth peer name "$b" || return
  local number=1 host
  for host in "$a" "$b"; do
    ip link set "$host" netns "$host" && ip -n "$host" addr add "10.77.0.$number/24" dev "$host" &&
      ip -n "$host" link set "$host" up && ip -n "$host" link set lo up || return
    number=2
  done
}
if ! make_hosts; then
  echo "skipped: needs root and ip, for network namespaces"
  exit 77
fi
# Open MPI calls this instead of ssh, with options, the host and a command.
cat >"$folder/agent" <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
shift
exec ip netns exec $b sh -c "\$*"
END
chmod +x "$folder/agent"
output=$folder/output
network=(--mca plm_rsh_agent "$folder/agent" --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24
  --mca oob_tcp_if_include 10.77.0.0/24 -H 10.77.0.1,10.77.0.2)
variables=$(compgen -e | grep ^TUTTI_ | sed 's/^/-x /')
# shellcheck disable=SC2086
ip netns exec "$a" "$mpiexec" "${network[@]}" $variables -n 2 "$@" >"$output" 2>&1 &
launcher=$!
if [ $lose_link = no ]; then
  wait $launcher
  status=$?
  cat "$output"
  exit $status
fi

for ((tenths = 0; tenths < 600; ++tenths)); do
  grep -q epoch "$output" && break
  sleep 0.1
done
ip -n "$b" link set "$b" down
for ((tenths = 0; tenths < 100; ++tenths)); do
  sleep 0.1
  [ -n "$(ranks "$1")" ] || break
done
cat "$output"
# mpirun itself waits longer for the other machine, and is killed at the end.
if [ -n "$(ranks "$1")" ]; then
  echo "ranks were there after 10 s"
  exit 1
fi
grep -q "rank [01] did not come within $TUTTI_TIMEOUT s" "$output"
