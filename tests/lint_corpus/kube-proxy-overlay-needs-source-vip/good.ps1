# profile: 1.20/2019/docker/win-overlay
# Starts kube-proxy on a Windows node.
c:\k\kube-proxy.exe --proxy-mode=kernelspace --network-name=vxlan0 --source-vip=10.244.1.2 --hostname-override=win01 --kubeconfig=c:\k\config
