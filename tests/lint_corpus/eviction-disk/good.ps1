C:\k\kubelet.exe --kubeconfig=C:\k\config --eviction-hard=nodefs.available<10%
