# profile: 1.8/2016/docker
# Starts kube-proxy on a Windows node.
$env:KUBE_NETWORK = "l2bridge"
c:\k\kube-proxy.exe --proxy-mode=kernelspace --hostname-override=win01 --kubeconfig=c:\k\config # here
