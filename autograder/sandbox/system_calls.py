"""Every system call of Linux: which a submission may make, and why, which it may make in part, and which never.

What attention needs of a kernel is memory, files of its own, threads, local sockets and time. The filter (seccomp.py)
lets pass what stands here and nothing else: a call that a later kernel brings is refused until somebody decides.
"""

from __future__ import annotations

#: Let pass whatever their arguments, by what they are for. They reach a process, its own files or its own namespaces,
#: and what they take is limited: by memory watched from outside, by numbers of files and processes, by processor time.
ALLOWED = {
    "its own memory": "brk munmap mremap mprotect mlock mlock2 mlockall munlock munlockall "
    "pkey_alloc pkey_free pkey_mprotect",
    "processes and threads within its namespace": "fork vfork execve execveat exit exit_group wait4 waitid kill tkill "
    "tgkill getpid getppid gettid getpgid getpgrp setpgid getsid setsid set_tid_address set_robust_list futex rseq "
    "restart_syscall arch_prctl getcpu",
    "signals, timers and clocks": "rt_sigprocmask rt_sigpending rt_sigreturn rt_sigsuspend rt_sigtimedwait "
    "rt_sigqueueinfo rt_tgsigqueueinfo sigaltstack pause alarm getitimer setitimer timer_create timer_delete "
    "timer_gettime timer_getoverrun timer_settime timerfd_create timerfd_gettime timerfd_settime signalfd signalfd4 "
    "nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times",
    "what it is and what it has used": "getuid geteuid getresuid getgid getegid getresgid getgroups capget getrlimit "
    "setrlimit getrusage uname getrandom umask sched_yield sched_getaffinity sched_getparam sched_getscheduler "
    "sched_getattr sched_get_priority_max sched_get_priority_min sched_rr_get_interval getpriority ioprio_get "
    "get_mempolicy",
    "opening and finding files": "open openat openat2 creat close close_range dup dup2 dup3 access faccessat "
    "faccessat2 stat lstat fstat newfstatat statx statfs fstatfs getdents getdents64 getcwd chdir fchdir readlink "
    "readlinkat lseek",
    "reading and writing files": "read write readv writev pread64 pwrite64 preadv pwritev sendfile copy_file_range "
    "truncate ftruncate fallocate",
    "its scratch folders": "mkdir mkdirat rmdir rename renameat renameat2 link linkat symlink symlinkat unlink "
    "unlinkat mknod mknodat chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat "
    "futimesat getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr",
    "pipes, events and local sockets": "pipe pipe2 eventfd eventfd2 poll ppoll select pselect6 bind listen accept "
    "accept4 connect getsockname getpeername getsockopt sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg shutdown",
}
#: Let pass with some arguments alone; seccomp.py says which.
LIMITED = (
    "mmap madvise msync clone socket socketpair setsockopt prlimit64 preadv2 pwritev2 fcntl ioctl prctl rt_sigaction"
)
#: Answered as done, and not done: an honest program asks for them and loses nothing.
DONE = {
    "locks, which other sandboxes would see": "flock",
    "what the machine keeps of files in memory": "fadvise64 readahead",
    "writing out the whole machine's files": "sync syncfs fsync fdatasync",
}
#: Refused with ENOSYS, so that libraries fall back: the flags of clone3 lie in memory, where no filter can look; and of
#: what epoll waits for a user has a number, so that one submission would leave the others, and the grader, none.
MISSING = "clone3 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2"
#: Refused with EOPNOTSUPP, as a file system without attributes does: programs that copy files then do without.
ATTRIBUTES = (
    "setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat getxattrat listxattrat"
)
#: Refused with EPERM, by what they reach or take. What stands nowhere is refused too, with ENOSYS.
REFUSED = {
    "other processes": "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_open "
    "pidfd_getfd pidfd_send_signal get_robust_list",
    "namespaces and mounts": "unshare setns mount umount umount2 pivot_root move_mount mount_setattr open_tree "
    "open_tree_attr fsopen fsconfig fsmount fspick chroot statmount listmount",
    "other users": "setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset",
    "keys": "add_key keyctl request_key",
    "the kernel's own machines": "io_uring_setup io_uring_enter io_uring_register bpf perf_event_open userfaultfd "
    "seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self modify_ldt set_thread_area "
    "get_thread_area remap_file_pages map_shadow_stack membarrier mseal lsm_get_self_attr "
    "lsm_set_self_attr lsm_list_modules",
    "memory of the kernel that no process is charged for": "semget semop semtimedop semctl msgget msgsnd msgrcv msgctl "
    "mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr io_setup io_destroy io_submit io_cancel "
    "io_getevents io_pgetevents",
    "memory that is nobody's": "memfd_create memfd_secret shmget shmat shmctl shmdt vmsplice splice tee",
    "scheduling": "sched_setscheduler sched_setparam sched_setattr sched_setaffinity setpriority ioprio_set",
    "NUMA policy": "mbind migrate_pages move_pages set_mempolicy set_mempolicy_home_node",
    "who opens which file, and what of it is in memory": "inotify_init inotify_init1 inotify_add_watch "
    "inotify_rm_watch fanotify_init fanotify_mark mincore cachestat sync_file_range",
    "file handles and attributes": "name_to_handle_at open_by_handle_at file_getattr file_setattr",
    "the machine": "sysinfo syslog personality init_module finit_module delete_module create_module kexec_load "
    "kexec_file_load reboot swapon swapoff quotactl quotactl_fd acct settimeofday clock_settime adjtimex clock_adjtime "
    "sethostname setdomainname vhangup iopl ioperm uselib sysfs ustat nfsservctl lookup_dcookie",
    "further ways to wait for memory": "futex_waitv futex_wake futex_wait futex_requeue",
    "what kernels have no more": "_sysctl get_kernel_syms query_module getpmsg putpmsg afs_syscall tuxcall security "
    "vserver epoll_ctl_old epoll_wait_old",
}
