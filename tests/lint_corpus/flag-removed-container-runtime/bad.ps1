# profile: 1.27/2019
C:\k\kubelet.exe --kubeconfig=C:\k\config --hostname-override=win01 --cgroups-per-qos=false --enforce-node-allocatable="" --resolv-conf="" `
  --container-runtime=remote # here
