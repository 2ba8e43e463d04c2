C:\k\kubelet.exe --kubeconfig=C:\k\config --eviction-hard=nodefs.inodesFree<5% # here
