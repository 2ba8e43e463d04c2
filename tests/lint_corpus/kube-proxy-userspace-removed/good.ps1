# profile: 1.8/1709/docker
# Starts kube-proxy on a Windows node.
c:\k\kube-proxy.exe --proxy-mode=userspace --hostname-override=win01 --kubeconfig=c:\k\config
