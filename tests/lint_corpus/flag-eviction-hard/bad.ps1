# profile: 1.30/2022
C:\k\kubelet.exe --kubeconfig=C:\k\config --hostname-override=win01 --cgroups-per-qos=false --enforce-node-allocatable="" --resolv-conf="" `
  --eviction-hard="memory.available<500Mi" # here
