"""CPU, memory, disk and network of a host, from files of a known content."""

import os
from pathlib import Path

from brimline.monitor.cpu_time import connection_thread, host_cpu, process_cpu_ns, thread_cpu_ns
from brimline.monitor.host import (
    disk_columns,
    disk_device,
    interface_bits_per_s,
    memory_columns,
    network_columns,
    network_interfaces,
    own_resident_bytes,
)


def test_cpu_time_of_a_process_whose_name_holds_spaces_and_parentheses(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text("7 (a) b (c) S 1 7 7 0 -1 4 100 0 0 0 150 50 0 0 20 0 1 0 12345 0 0\n")
    assert process_cpu_ns(7, proc=tmp_path) == 2_000_000_000
    assert process_cpu_ns(8, proc=tmp_path) is None


def test_memory_of_this_process_is_what_is_resident(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "statm").write_text("30000 2000 500 1 0 900 0\n")
    assert own_resident_bytes(proc=tmp_path) == 2000 * os.sysconf("SC_PAGE_SIZE")
    assert own_resident_bytes(proc=tmp_path / "none") is None


def test_cpu_time_of_the_host_leaves_out_idle_and_guests(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text(
        "cpu  100 10 50 1000 300 5 15 20 70 7\n"
        "cpu0 50 5 25 500 100 2 7 10 35 3\n"
        "cpu1 50 5 25 500 100 3 8 10 35 4\n"
        "intr 1 2 3\n"
    )
    host = host_cpu(proc=tmp_path)
    assert host is not None
    assert host.busy_ns == 200 * 10_000_000
    assert host.iowait_ns == 300 * 10_000_000
    assert host.cpu_count == 2
    assert host_cpu(proc=tmp_path / "none") is None


def test_cpu_time_of_a_connections_thread_is_found_by_its_name(tmp_path: Path) -> None:
    for thread, name in (("70", "mongod"), ("71", "conn1"), ("72", "conn12")):
        (tmp_path / "7" / "task" / thread).mkdir(parents=True)
        (tmp_path / "7" / "task" / thread / "comm").write_text(f"{name}\n")
        (tmp_path / "7" / "task" / thread / "schedstat").write_text(f"{thread}000000 55 6\n")
    thread = connection_thread(7, 12, proc=tmp_path)
    assert thread is not None
    assert thread_cpu_ns(thread) == 72_000_000
    assert connection_thread(7, 2, proc=tmp_path) is None
    assert connection_thread(8, 12, proc=tmp_path) is None
    assert thread_cpu_ns(tmp_path / "7" / "task" / "99") is None


def _file(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_memory(tmp_path: Path) -> None:
    text = "MemTotal: 2000 kB\nMemFree: 5 kB\nMemAvailable: 700 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\nHugePages: 0\n"
    _file(tmp_path, "proc/meminfo", text)
    assert memory_columns(root=tmp_path) == {
        "host_memory_total_bytes": 2000 * 1024,
        "host_memory_available_bytes": 700 * 1024,
        "host_swap_used_bytes": 30 * 1024,
    }
    assert set(memory_columns(root=tmp_path / "none").values()) == {None}


def test_a_disks_counters_are_its_own_and_in_sectors_of_512(tmp_path: Path) -> None:
    _file(
        tmp_path,
        "proc/diskstats",
        "   8  0 sda 10 1 20 30 40 2 50 60 3 70 80 5 6 7 8 9 10\n   8  1 sda1 9 9 9 9 9 9 9 9 9 9 9\n",
    )
    assert disk_columns("sda", root=tmp_path) == {
        "disk_reads": 10,
        "disk_bytes_read": 20 * 512,
        "disk_read_time_ms": 30,
        "disk_writes": 40,
        "disk_bytes_written": 50 * 512,
        "disk_write_time_ms": 60,
        "disk_in_flight": 3,
        "disk_busy_ms": 70,
        "disk_queue_time_ms": 80,
    }
    assert disk_columns("sdb", root=tmp_path) == {}


def _network(root: Path, *, real: tuple[str, ...]) -> None:
    _file(
        root,
        "proc/net/dev",
        "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop ...\n"
        "    lo: 500 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n"
        "  eth0: 100 1 0 7 0 0 0 0 200 1 0 1 0 0 0 0\n"
        "docker0:10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n",
    )
    for name in real:
        _file(root, f"sys/class/net/{name}/device/uevent", "")


def test_traffic_of_real_interfaces_is_not_counted_again_at_a_bridge(tmp_path: Path) -> None:
    _network(tmp_path, real=("eth0",))
    _file(tmp_path, "proc/net/snmp", "Tcp: InSegs RetransSegs OutRsts\nTcp: 9 13 2\nUdp: InDatagrams\nUdp: 1\n")
    interfaces = network_interfaces(root=tmp_path)
    assert interfaces == ("eth0",)
    assert network_columns(interfaces, root=tmp_path) == {
        "host_network_bytes_in": 100,
        "host_network_bytes_out": 200,
        "host_network_drops": 8,
        "host_loopback_bytes": 500,
        "host_tcp_retransmits": 13,
    }


def test_a_container_has_no_real_interface_and_shows_what_it_has(tmp_path: Path) -> None:
    _network(tmp_path, real=())
    assert network_interfaces(root=tmp_path) == ("eth0", "docker0")
    assert network_columns((), root=tmp_path)["host_network_bytes_in"] is None


def test_speed_of_an_interface(tmp_path: Path) -> None:
    for name, text in (("eth0", "10000\n"), ("virt0", "-1\n")):
        _file(tmp_path, f"sys/class/net/{name}/speed", text)
    assert interface_bits_per_s("eth0", root=tmp_path) == 10_000_000_000
    assert interface_bits_per_s("virt0", root=tmp_path) is None
    assert interface_bits_per_s("none", root=tmp_path) is None


def test_the_disk_under_a_path_is_the_whole_disk(tmp_path: Path) -> None:
    number = tmp_path.stat().st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    disk = tmp_path / "sys/devices/block/sda"
    (disk / "sda1").mkdir(parents=True)
    (tmp_path / "sys/dev/block").mkdir(parents=True)
    (tmp_path / "sys/dev/block" / name).symlink_to(disk / "sda1")
    if os.major(number):
        assert disk_device(tmp_path, root=tmp_path) == "sda1"  # a whole device of that name
        (disk / "sda1" / "partition").write_text("1\n")
        assert disk_device(tmp_path, root=tmp_path) == "sda"
    assert disk_device(tmp_path / "none", root=tmp_path) is None


def test_a_file_system_in_memory_is_on_no_disk(tmp_path: Path) -> None:
    assert disk_device(Path("/proc"), root=tmp_path) is None
