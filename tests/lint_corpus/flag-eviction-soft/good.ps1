# profile: 1.31/2022
C:\k\kubelet.exe --kubeconfig=C:\k\config --hostname-override=win01 --cgroups-per-qos=false --enforce-node-allocatable="" --resolv-conf="" `
  --eviction-soft="memory.available<1Gi"
