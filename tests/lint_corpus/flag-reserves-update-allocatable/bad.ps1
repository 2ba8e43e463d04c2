# profile: 1.13/2019/docker
C:\k\kubelet.exe --kubeconfig=C:\k\config --hostname-override=win01 --cgroups-per-qos=false --enforce-node-allocatable="" --resolv-conf="" `
  --kube-reserved=memory=2Gi # here
